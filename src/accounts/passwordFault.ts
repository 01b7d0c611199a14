/** What many people take for a password, or build one around. */
const common = new Set(
  `password passwort passw0rd pass admin administrator root user guest login letmein welcome qwerty qwertz azerty
  qwertyuiop asdfghjkl zxcvbnm qazwsx qazwsxedc iloveyou ilove monkey dragon sunshine princess football baseball
  basketball superman batman starwars pokemon master shadow michael jordan jennifer jessica ashley charlie freedom
  whatever trustno secret changeme default test testing temp hello hunter summer winter spring autumn soccer hockey
  ninja mustang access flower lovely killer pepper cookie computer internet samsung google facebook liverpool chelsea
  arsenal abc abcd abcdef abcdefg messaging service account email mail company
  passwordpassword adminadmin testtest welcomewelcome correcthorsebatterystaple`.split(/\s+/)
)

/** Rows of keys and of signs; a password that walks along one of them is guessed soon. */
const rows = [
  "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
  "01234567890123456789012345678901234567890",
  "1234567890qwertyuiopasdfghjklzxcvbnm",
  "qwertyuiopasdfghjklzxcvbnm",
  "qwertzuiopasdfghjklyxcvbnm",
  "azertyuiopqsdfghjklmwxcvbn",
  "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p",
  "q1w2e3r4t5y6u7i8o9p0",
  "1q2w3e4r5t6y7u8i9o0p",
  "!@#$%^&*()_+"
]

const leet: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s"
}

const letters = (text: string) => text.replaceAll(/[^a-z]/g, "")

/** With letters in the place of the signs that are drawn like them. */
const unleeted = (text: string) => text.replaceAll(/[013457@$]/g, (sign) => leet[sign] ?? "")

const reversed = (text: string) => [...text].toReversed().join("")

/** The shortest piece that the text repeats; the last time perhaps not to its end. */
const period = (text: string): string => {
  for (let length = 1; length < text.length; length++) {
    const piece = text.slice(0, length)
    if (piece.repeat(Math.ceil(text.length / length)).startsWith(text)) return piece
  }
  return text
}

const isCommon = (text: string): boolean => {
  const core = text.replaceAll(/^[^a-z]+|[^a-z]+$/g, "")
  return [text, letters(text), letters(unleeted(text)), letters(unleeted(core))].some((form) =>
    common.has(form) || common.has(period(form))
  )
}

const walks = (text: string): boolean => rows.some((row) => row.includes(text) || reversed(row).includes(text))

/** Whose password it is to be. */
export interface Person {
  readonly name: string
  readonly email: string
}

/**
 * Why a password would be guessed soon, as the end of a sentence; undefined when nothing speaks against it. Length is not
 * its concern. There are no rules for signs and digits: they make passwords worse (NIST 800-63B).
 */
export const passwordFault = (password: string, { email, name }: Person): string | undefined => {
  const text = password.normalize("NFKC").toLowerCase()
  if (/^\d+$/.test(text) && period(text).length <= 4) return "must not repeat the same few digits"
  if (walks(text)) return "must not be a row of letters, digits or keys"
  if (isCommon(text)) return "must not be one of the most common passwords"
  const own = [email, email.split("@")[0] ?? "", name].map((word) => word.normalize("NFKC").toLowerCase())
  const bare = (word: string) => word.replaceAll(/[^\p{L}]/gu, "")
  return own.some((word) => bare(word).length >= 4 && bare(word) === bare(text))
    ? "must not be your name or your email address"
    : undefined
}

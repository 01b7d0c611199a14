import type { Locale } from "../values/Locale.ts"

/** The words around a code. */
export interface CodeWords {
  readonly locale: Locale
  readonly brandName: string | null
  /** The placeholder for the code. */
  readonly mask: string
  /** How long the code is valid. */
  readonly seconds: number
}

interface Phrases {
  readonly subject: string
  readonly sentence: (mask: string, time: string) => string
}

/**
 * Uses only letters of GSM 03.38, except in Arabic: a single ç, ê or í would shorten a segment from 160 to 70
 * characters.
 */
const phrases: Readonly<Record<Locale, Phrases>> = {
  en: {
    subject: "Your verification code",
    sentence: (mask, time) => `Your code is ${mask}. It is valid for ${time}. Do not give it to anybody.`
  },
  fr: {
    subject: "Votre code de vérification",
    sentence: (mask, time) => `Votre code est ${mask}. Il est valable ${time}. Ne le donnez à personne.`
  },
  es: {
    subject: "Su clave de un solo uso",
    sentence: (mask, time) => `Su clave es ${mask}. Vale por ${time}. No la comparta con nadie.`
  },
  pt: {
    subject: "A sua senha de uso único",
    sentence: (mask, time) => `A sua senha: ${mask}. Vale por ${time}. Nunca a partilhe com ninguém.`
  },
  de: {
    subject: "Ihr Bestätigungscode",
    sentence: (mask, time) => `Ihr Code ist ${mask}. Er gilt ${time}. Geben Sie ihn niemandem weiter.`
  },
  ar: {
    subject: "رمز التحقق",
    sentence: (mask, time) => `رمز التحقق هو ${mask}. مدة صلاحيته: ${time}. لا تعطه لأحد.`
  },
  sw: {
    subject: "Nambari yako ya uthibitisho",
    sentence: (mask, time) => `Nambari yako ni ${mask}. Inatumika kwa ${time}. Usimpe mtu yeyote.`
  },
  rw: {
    subject: "Kode yawe yo kwemeza",
    sentence: (mask, time) => `Kode yawe ni ${mask}. Imara ${time}. Ntuyihe undi muntu.`
  }
}

/**
 * Rounded down, because a code must be valid for at least the stated time. With ASCII digits, which everyone can read, and
 * plain spaces, because GSM has no others.
 */
const timeOf = ({ locale, seconds }: CodeWords) => {
  const [count, unit, one, many] = seconds < 60
    ? [seconds, "second", "isegonda", "amasegonda"]
    : [Math.floor(seconds / 60), "minute", "umunota", "iminota"]
  return locale === "rw"
    ? `${count === 1 ? one : many} ${count}`
    : new Intl.NumberFormat(`${locale}-u-nu-latn`, { style: "unit", unit, unitDisplay: "long" })
      .format(count).replaceAll(/[\u00a0\u202f]/g, " ")
}

const branded = (brandName: string | null, text: string) => brandName === null ? text : `${brandName}: ${text}`

/** The text for the recipient. */
export const codeText = (words: CodeWords): string =>
  branded(words.brandName, phrases[words.locale].sentence(words.mask, timeOf(words)))

/** The subject of the mail, without the code, because subjects are stored and shown. */
export const codeSubject = ({ brandName, locale }: CodeWords): string => branded(brandName, phrases[locale].subject)

/** An SMS. With a domain, its last line lets browsers fill in the code on that domain only (WebOTP). */
export const codeSms = (words: CodeWords, webDomain: string | null): string =>
  webDomain === null ? codeText(words) : `${codeText(words)}\n\n@${webDomain} #${words.mask}`

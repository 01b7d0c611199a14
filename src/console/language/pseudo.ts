import type { IntlMessageFormat } from "intl-messageformat"

type Elements = ReturnType<IntlMessageFormat["getAst"]>

const accents: Readonly<Record<string, string>> = {
  a: "à",
  c: "ç",
  d: "ð",
  e: "é",
  g: "ĝ",
  h: "ĥ",
  i: "î",
  n: "ñ",
  o: "ö",
  r: "ř",
  s: "š",
  t: "ţ",
  u: "û",
  y: "ý",
  z: "ž",
  A: "À",
  C: "Ç",
  D: "Ð",
  E: "É",
  G: "Ĝ",
  H: "Ĥ",
  I: "Î",
  N: "Ñ",
  O: "Ö",
  R: "Ř",
  S: "Š",
  T: "Ţ",
  U: "Û",
  Y: "Ý",
  Z: "Ž"
}

const accented = (text: string) => text.replaceAll(/[A-Za-z]/g, (letter) => accents[letter] ?? letter)

/** The dots are words of at most eight, because a longer one would need more room than a sentence does. */
const longer = (text: string) =>
  `${accented(text)}${"·".repeat(Math.ceil(text.length * 0.4)).replaceAll(/·{8}(?=·)/g, "$& ")}`

/** The library's numbers of the kinds of elements. */
const literal = 0

const changed = (elements: Elements): Elements =>
  elements.map((element) => {
    if (element.type === literal) return { ...element, value: longer(element.value) }
    if ("children" in element) return { ...element, children: changed(element.children) }
    if ("options" in element) {
      const options = Object.entries(element.options).map(([name, option]) => [
        name,
        { ...option, value: changed(option.value) }
      ])
      return { ...element, options: Object.fromEntries(options) }
    }
    return element
  })

/** A text in the pseudo language: `[!! Ŝéñð··· !!]`, 40 % longer. A page's text without the brackets is not translated. */
export const pseudo = (elements: Elements): Elements => {
  const mark = (value: string) => ({ type: literal, value }) as Elements[number]
  return [mark("[!! "), ...changed(elements), mark(" !!]")]
}

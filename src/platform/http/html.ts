/** Markup that is safe to send: everything interpolated into it was escaped. */
export class Html {
  readonly markup: string

  /** Only for markup that is a constant of this program; text from anywhere else goes through `html`. */
  constructor(markup: string) {
    this.markup = markup
  }
}

/** What may stand in a hole of a template; absent values and false leave it empty. */
export type HtmlValue = Html | string | number | false | null | undefined | ReadonlyArray<Html>

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\"": "&quot;",
  "'": "&#39;"
}

// NUL and its like are no characters of HTML; browsers replace them as well.
// oxlint-disable-next-line no-control-regex
const notHtml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g

const escape = (text: string) =>
  text.toWellFormed().replaceAll(notHtml, "\ufffd").replaceAll(/[&<>"']/g, (sign) => entities[sign] ?? sign)

const rendered = (value: HtmlValue): string => {
  if (value === undefined || value === null || value === false) return ""
  if (value instanceof Html) return value.markup
  if (typeof value === "string" || typeof value === "number") return escape(String(value))
  return value.map((part) => part.markup).join("")
}

/**
 * Builds markup from a template. Text is escaped for element content and for quoted attributes, the two places where
 * a hole may be; never leave an attribute without quotation marks, and put no hole into a script, style or URL scheme.
 */
export const html = (strings: TemplateStringsArray, ...values: ReadonlyArray<HtmlValue>): Html =>
  new Html(strings.map((part, index) => part + (index < values.length ? rendered(values[index]) : "")).join(""))

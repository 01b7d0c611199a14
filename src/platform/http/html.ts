/** Markup that is safe to send: every interpolated value is escaped. */
export class Html {
  readonly markup: string

  /** For constant markup only; pass all other text through `html`. */
  constructor(markup: string) {
    this.markup = markup
  }
}

/** A value in a template; absent values and false render as nothing. */
export type HtmlValue = Html | string | number | false | null | undefined | ReadonlyArray<Html>

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\"": "&quot;",
  "'": "&#39;"
}

// HTML has no control characters such as NUL; browsers replace them too.
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
 * Builds markup from a template. Text is escaped for element content and for quoted attributes; interpolate only there.
 * Quote every attribute, and never interpolate into a script, a style or a URL scheme.
 */
export const html = (strings: TemplateStringsArray, ...values: ReadonlyArray<HtmlValue>): Html =>
  new Html(strings.map((part, index) => part + (index < values.length ? rendered(values[index]) : "")).join(""))

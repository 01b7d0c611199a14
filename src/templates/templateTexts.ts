import type { TemplatePartName } from "./TemplateErrors.ts"

/** The texts of a request, by either of their names. A null text is derived from the HTML. */
export interface TextInput {
  readonly html?: string
  readonly body_html?: string
  readonly text?: string | null
  readonly body_text?: string | null
}

/**
 * The texts of a request, and the names under which they came, for refusals. `html` and `text` take precedence over
 * `body_html` and `body_text`.
 */
export const templateTexts = ({ body_html, body_text, html, text }: TextInput) => ({
  html: html ?? body_html,
  text: text === undefined ? body_text : text,
  paramOf: {
    subject: "subject",
    html: html === undefined && body_html !== undefined ? "body_html" : "html",
    text: text === undefined && body_text !== undefined ? "body_text" : "text"
  } satisfies Record<TemplatePartName, string>
})

import type { TemplatePartName } from "./TemplateErrors.ts"

/** The texts of a request under either of their names; a text of null is to be made of the HTML. */
export interface TextInput {
  readonly html?: string
  readonly body_html?: string
  readonly text?: string | null
  readonly body_text?: string | null
}

/**
 * What is sent as `html` or `body_html` and as `text` or `body_text`: the texts, and under which names they came, so that
 * a refusal can use them. Where both names are there, `html` and `text` count.
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

import { Array, Result } from "effect"
import { escapeHtml } from "./escapeHtml.ts"
import { htmlToText } from "./htmlToText.ts"
import type { TemplateInvalid } from "./TemplateErrors.ts"
import {
  compilePart,
  isComposite,
  type Placeholder,
  readValue,
  renderedLength,
  renderPart,
  type TemplatePart,
  type Variables
} from "./TemplatePart.ts"

/** What a message is made from; the language is described at {@link TemplatePart}. */
export interface TemplateSource {
  readonly subject: string
  readonly html?: string | null | undefined
  /** When absent, it is made from the HTML. */
  readonly text?: string | null | undefined
}

/** A template that was read once and renders many messages. */
export interface Template {
  readonly subject: TemplatePart
  readonly html: TemplatePart | undefined
  readonly text: TemplatePart | undefined
  /** The placeholders that need a value: without a default in at least one of their places. */
  readonly required: ReadonlyArray<Placeholder>
}

/** The texts of one message. */
export interface Rendered {
  readonly subject: string
  readonly html: string | undefined
  readonly text: string | undefined
}

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const control = /\r\n|[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g

const toLine = (text: string): string => text.replaceAll(control, " ")

const line = ({ literals, placeholders }: TemplatePart): TemplatePart => ({
  literals: literals.map(toLine),
  placeholders
})

const asIs = (value: string): string => value

const requiredOf = (parts: ReadonlyArray<TemplatePart | undefined>): ReadonlyArray<Placeholder> => {
  const required = new Map<string, Placeholder>()
  for (const placeholder of parts.flatMap((part) => part?.placeholders ?? [])) {
    if (placeholder.fallback === undefined && !required.has(placeholder.name)) {
      required.set(placeholder.name, placeholder)
    }
  }
  return [...required.values()]
}

const optionalPart = (source: string | null | undefined, part: "html" | "text") =>
  source === undefined || source === null ? Result.succeed(undefined) : compilePart(source, part)

/** Reads a template; the failure tells of each text the first place that is no placeholder. Linear in their length. */
export const compile = (source: TemplateSource): Result.Result<Template, ReadonlyArray<TemplateInvalid>> => {
  const subjects = compilePart(source.subject, "subject")
  const htmls = optionalPart(source.html, "html")
  const texts = optionalPart(source.text, "text")
  if (Result.isFailure(subjects) || Result.isFailure(htmls) || Result.isFailure(texts)) {
    return Result.fail(Array.getFailures([subjects, htmls, texts]))
  }
  const subject = line(subjects.success)
  const html = htmls.success
  const text = texts.success ?? (html === undefined ? undefined : htmlToText(html))
  return Result.succeed({ subject, html, text, required: requiredOf([subject, html, text]) })
}

/** The names of all placeholders, each once, in the order of their first place in subject, HTML and text. */
export const variables = ({ html, subject, text }: Template): ReadonlyArray<string> => [
  ...new Set([subject, html, text].flatMap((part) => part?.placeholders ?? []).map(({ name }) => name))
]

/** The names that need a value and have none. Checked when a message is accepted, so that none is sent with gaps. */
export const missing = (template: Template, variables: Variables): ReadonlyArray<string> => {
  const names: Array<string> = []
  for (const placeholder of template.required) {
    if (readValue(placeholder, variables) === undefined) names.push(placeholder.name)
  }
  return names
}

/** Those of {@link missing} that have an object, which has no text of its own. */
export const composite = (template: Template, variables: Variables): ReadonlyArray<string> =>
  template.required.filter((placeholder) => isComposite(placeholder, variables)).map(({ name }) => name)

/** How long the texts would be before escaping, found without making them; 0 of one that there is none of. */
export const lengths = ({ html, subject, text }: Template, variables: Variables) => ({
  subject: renderedLength(subject, variables),
  html: html === undefined ? 0 : renderedLength(html, variables),
  text: text === undefined ? 0 : renderedLength(text, variables)
})

/**
 * The texts of one message. In the HTML, values are escaped for text and quoted attributes; in the subject, line
 * breaks and other control characters are spaces. Total: a missing value is its default, or nothing.
 */
export const render = (template: Template, variables: Variables): Rendered => ({
  subject: renderPart(template.subject, variables, toLine),
  html: template.html === undefined ? undefined : renderPart(template.html, variables, escapeHtml),
  text: template.text === undefined ? undefined : renderPart(template.text, variables, asIs)
})

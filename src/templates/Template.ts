import { Array, Result } from "effect"
import { escapeHtml } from "./escapeHtml.ts"
import { htmlToText } from "./htmlToText.ts"
import {
  compilePart,
  isComposite,
  type Placeholder,
  readValue,
  renderedLength,
  renderPart,
  type TemplateInvalid,
  type TemplatePart,
  type Variables
} from "./TemplatePart.ts"

/** The source of a message. {@link TemplatePart} describes the language. */
export interface TemplateSource {
  readonly subject: string
  readonly html?: string | null | undefined
  /** If absent, it is derived from the HTML. */
  readonly text?: string | null | undefined
}

/** A compiled template, which renders any number of messages. */
export interface Template {
  readonly subject: TemplatePart
  readonly html: TemplatePart | undefined
  /** Derived when it is first read, unless it was written. */
  readonly text: TemplatePart | undefined
  /** The names of all placeholders, in order of their first place in subject, HTML and text. */
  readonly names: ReadonlyArray<string>
  /** The placeholders that need a value: at least one of their places has no default. */
  readonly required: ReadonlyArray<Placeholder>
}

/** The texts of one message. */
export interface Rendered {
  readonly subject: string
  readonly html: string | undefined
  readonly text: string | undefined
}

// oxlint-disable-next-line no-control-regex -- the pattern finds control characters
const control = /\r\n|[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g

const toLine = (text: string): string => text.replaceAll(control, " ")

const line = ({ literals, placeholders }: TemplatePart): TemplatePart => ({
  literals: literals.map(toLine),
  placeholders
})

const asIs = (value: string): string => value

const requiredOf = (placeholders: ReadonlyArray<Placeholder>): ReadonlyArray<Placeholder> => {
  const required = new Map<string, Placeholder>()
  for (const placeholder of placeholders) {
    if (placeholder.fallback === undefined && !required.has(placeholder.name)) {
      required.set(placeholder.name, placeholder)
    }
  }
  return [...required.values()]
}

const optionalPart = (source: string | null | undefined, part: "html" | "text") =>
  source === undefined || source === null ? Result.succeed(undefined) : compilePart(source, part)

/** Compiles a template. The failure names the first fault of each text. Linear in the length of the texts. */
export const compile = (source: TemplateSource): Result.Result<Template, ReadonlyArray<TemplateInvalid>> => {
  const subjects = compilePart(source.subject, "subject")
  const htmls = optionalPart(source.html, "html")
  const texts = optionalPart(source.text, "text")
  if (Result.isFailure(subjects) || Result.isFailure(htmls) || Result.isFailure(texts)) {
    return Result.fail(Array.getFailures([subjects, htmls, texts]))
  }
  const subject = line(subjects.success)
  const html = htmls.success
  // A derived text has no placeholder that the HTML does not have.
  const placeholders = [subject, html, texts.success].flatMap((part) => part?.placeholders ?? [])
  // Null until it is derived.
  let text = texts.success ?? (html === undefined ? undefined : null)
  return Result.succeed({
    subject,
    html,
    get text() {
      if (text === null && html !== undefined) text = htmlToText(html)
      return text ?? undefined
    },
    names: [...new Set(placeholders.map(({ name }) => name))],
    required: requiredOf(placeholders)
  })
}

/** The names without a required value. Checked on acceptance, so that no message is sent with gaps. */
export const missing = (template: Template, variables: Variables): ReadonlyArray<string> => {
  const names: Array<string> = []
  for (const placeholder of template.required) {
    if (readValue(placeholder, variables) === undefined) names.push(placeholder.name)
  }
  return names
}

/** The names of {@link missing} whose value is an object, which has no text form. */
export const composite = (template: Template, variables: Variables): ReadonlyArray<string> =>
  template.required.filter((placeholder) => isComposite(placeholder, variables)).map(({ name }) => name)

/** The lengths of the texts before escaping, computed without building them; 0 for an absent text. */
export const lengths = ({ html, subject, text }: Template, variables: Variables) => ({
  subject: renderedLength(subject, variables),
  html: html === undefined ? 0 : renderedLength(html, variables),
  text: text === undefined ? 0 : renderedLength(text, variables)
})

/**
 * The texts of one message. In the HTML, values are escaped for text and quoted attributes. In the subject, line breaks
 * and other control characters become spaces. A missing value becomes its default, or nothing.
 */
export const render = (template: Template, variables: Variables): Rendered => ({
  subject: renderPart(template.subject, variables, toLine),
  html: template.html === undefined ? undefined : renderPart(template.html, variables, escapeHtml),
  text: template.text === undefined ? undefined : renderPart(template.text, variables, asIs)
})

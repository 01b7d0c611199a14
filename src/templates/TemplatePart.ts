import { Result, Schema } from "effect"

/** The parts of a message that are templates. */
export const TemplatePartName = Schema.Literals(["subject", "html", "text"])
export type TemplatePartName = typeof TemplatePartName.Type

/** An invalid `{{ }}` in a template. Line and column, counted from 1, are those of its first brace. */
export class TemplateInvalid extends Schema.TaggedError<TemplateInvalid>()("TemplateInvalid", {
  part: TemplatePartName,
  line: Schema.Int,
  column: Schema.Int,
  /** The fault and its correction, without a full stop. */
  reason: Schema.String
}) {
  override get message() {
    return `line ${this.line}, column ${this.column}: ${this.reason}`
  }
}

/**
 * One compiled text with placeholders. The language:
 *
 * - `{{ name }}` or `{{ user.name }}`: a value. Names consist of letters, digits, `_` and `-`, and begin with a letter
 *   or `_`.
 * - `{{ name | there }}`: the same, with the default `there` for a missing value. A default is plain text, treated like
 *   a value.
 * - `{{{{`: two literal braces. A `}}` outside of a placeholder is literal.
 *
 * Everything else between `{{` and `}}` is refused: there are no expressions, sections or unescaped output. One literal
 * stands before each placeholder and one after the last.
 */
export interface TemplatePart {
  readonly literals: ReadonlyArray<string>
  readonly placeholders: ReadonlyArray<Placeholder>
}

/** A place for a value. */
export interface Placeholder {
  /** As written: `name` or `user.name`. */
  readonly name: string
  readonly path: ReadonlyArray<string>
  /** The default for a missing value; undefined if the value is required. */
  readonly fallback: string | undefined
}

/**
 * Values to insert: strings, numbers and booleans, at most one level of objects deep. Any other value counts as
 * missing.
 */
export type Variables = Readonly<Record<string, unknown>>

const placeholder = /^([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)?)\s*(?:\|([^{}]*))?$/

// Only own properties are ever read. These names are refused as well, so that no template seems to read them.
const reserved = new Set(["__proto__", "constructor", "prototype"])

const names = "use {{ name }} or {{ user.name }}, made of letters, digits, _ and -"

const excerpt = (text: string) => text.length > 40 ? `${text.slice(0, 40)}…` : text

const readPlaceholder = (inner: string): Result.Result<Placeholder, string> => {
  const match = placeholder.exec(inner.trim())
  const name = match?.[1]
  if (name === undefined) {
    if (inner.includes("{{")) return Result.fail("this {{ is not closed before the next one: add }}")
    if (inner.trim() === "") return Result.fail("there is no name between {{ and }}")
    if (inner.startsWith("{")) {
      return Result.fail("three braces have no meaning: write {{ name }}; values are always escaped")
    }
    return Result.fail(`{{${excerpt(inner)}}} is not a placeholder: ${names}, or {{{{ for literal braces`)
  }
  const path = name.split(".")
  return path.some((key) => reserved.has(key))
    ? Result.fail(`{{${excerpt(inner)}}} names a reserved word: choose another name`)
    : Result.succeed({ name, path, fallback: match?.[2]?.trim() })
}

const invalid = (source: string, offset: number) => (part: TemplatePartName, reason: string) => {
  const lines = source.slice(0, offset).split(/\r\n|\r|\n/)
  return new TemplateInvalid({ part, line: lines.length, column: (lines.at(-1) ?? "").length + 1, reason })
}

/** More placeholders would make one mail as costly as thousands. */
const maxPlaceholders = 1000

/** Compiles one part in one pass. */
export const compilePart = (source: string, part: TemplatePartName): Result.Result<TemplatePart, TemplateInvalid> => {
  const literals: Array<string> = []
  const placeholders: Array<Placeholder> = []
  const known = new Map<string, Placeholder>()
  let literal = ""
  let at = 0
  for (let open = source.indexOf("{{"); open >= 0; open = source.indexOf("{{", at)) {
    literal += source.slice(at, open)
    if (source.startsWith("{{{{", open)) {
      literal += "{{"
      at = open + 4
      continue
    }
    const close = source.indexOf("}}", open)
    if (close < 0) return Result.fail(invalid(source, open)(part, "this {{ is not closed: add }}"))
    const inner = source.slice(open + 2, close)
    if (placeholders.length === maxPlaceholders) {
      return Result.fail(invalid(source, open)(part, `a text has at most ${maxPlaceholders} placeholders`))
    }
    const before = known.get(inner)
    const read = before === undefined ? readPlaceholder(inner) : Result.succeed(before)
    if (Result.isFailure(read)) return Result.fail(invalid(source, open)(part, read.failure))
    known.set(inner, read.success)
    literals.push(literal)
    placeholders.push(read.success)
    literal = ""
    at = close + 2
  }
  literals.push(literal + source.slice(at))
  return Result.succeed({ literals, placeholders })
}

// Reflect.get returns `any`. It reads only an own property, so no getter of a prototype runs.
const own = (holder: unknown, key: string): unknown =>
  typeof holder === "object" && holder !== null && Object.hasOwn(holder, key) ? Reflect.get(holder, key) : undefined

const valueAt = ({ path }: Placeholder, variables: Variables): unknown => {
  let value: unknown = variables
  for (const key of path) value = own(value, key)
  return value
}

/** Whether the value is an object instead of a scalar. */
export const isComposite = (placeholder: Placeholder, variables: Variables): boolean => {
  const value = valueAt(placeholder, variables)
  return typeof value === "object" && value !== null
}

/** The text of a placeholder's value; undefined if it is absent, null or not a scalar. */
export const readValue = (placeholder: Placeholder, variables: Variables): string | undefined => {
  const value = valueAt(placeholder, variables)
  if (typeof value === "string") return value
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined
}

/**
 * The text with its values, each encoded by `encode` and never scanned again. A missing value becomes its default, or
 * nothing: acceptance has checked the required ones.
 */
export const renderPart = (part: TemplatePart, variables: Variables, encode: (value: string) => string): string => {
  let text = part.literals[0] ?? ""
  for (const [index, placeholder] of part.placeholders.entries()) {
    const value = readValue(placeholder, variables) ?? placeholder.fallback
    if (value !== undefined) text += encode(value)
    text += part.literals[index + 1] ?? ""
  }
  return text
}

/**
 * The length of {@link renderPart} without encoding, computed without building the text, because values may be huge.
 */
export const renderedLength = (part: TemplatePart, variables: Variables): number => {
  let length = part.literals[0]?.length ?? 0
  for (const [index, placeholder] of part.placeholders.entries()) {
    length += (readValue(placeholder, variables) ?? placeholder.fallback ?? "").length
    length += part.literals[index + 1]?.length ?? 0
  }
  return length
}

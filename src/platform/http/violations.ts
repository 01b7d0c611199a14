import { Effect, Schema, SchemaIssue } from "effect"
import type { HttpApiError } from "effect/http-api"
import { InvalidJson, NotFound, ValidationFailed, type Violation } from "./ApiErrors.ts"

const maxViolations = 50

const formatter = SchemaIssue.makeFormatterStandardSchemaV1()

/** `recipients[3].to` */
export const pathOf = (path: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }>) =>
  path.reduce<string>((text, segment) => {
    const key = typeof segment === "object" ? segment.key : segment
    return typeof key === "number" ? `${text}[${key}]` : text === "" ? String(key) : `${text}.${String(key)}`
  }, "")

const kinds: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  "a finite number": "a number",
  boolean: "true or false",
  array: "an array",
  object: "an object"
}

/**
 * The library prints an object with a literal field as `{ readonly "kind": "a", ... }`, and a schema that the OpenAPI
 * document names by its name. Only objects have names.
 */
const kindOf = (part: string) => /^(?:\{ |[A-Z]\w*$)/.test(part) ? "an object" : kinds[part] ?? part

/** `must be a string or an object`, `must be one of low, high`, from the expectation that the library prints. */
const mustBe = (expected: string) => {
  const parts = expected.split(" | ")
  if (parts.length > 1 && parts.every((part) => /^"[^"]*"$/.test(part))) {
    return `must be one of ${parts.map((part) => part.slice(1, -1)).join(", ")}`
  }
  return `must be ${[...new Set(parts.map(kindOf))].join(" or ")}`
}

const violation = (param: string, text: string): Violation => {
  const message = text.replace(/\n[\s\S]*$/, "")
  if (/^(Missing key|Expected .*, got undefined)/.test(message)) {
    return { param, type: "missing", message: "is required" }
  }
  const [, expected] = /^Expected (.*?)(?:, got .*)?$/.exec(message) ?? []
  const rule = expected === undefined ? message.charAt(0).toLowerCase() + message.slice(1) : mustBe(expected)
  return { param, type: "invalid", message: rule.slice(0, 500) }
}

/** The library reports this issue at the root of a body that is not JSON. */
const isMalformedJson = (issue: SchemaIssue.Issue) =>
  issue._tag === "InvalidValue" && formatter(issue).issues[0]?.message === "Expected a valid JSON body"

/** Formats one fault after the other, so that a body with thousands of faults costs no more than its first ones. */
function* faultsOf(
  issue: SchemaIssue.Issue,
  path: ReadonlyArray<PropertyKey> = []
): Generator<Violation> {
  if (issue._tag === "Pointer") yield* faultsOf(issue.issue, [...path, ...issue.path])
  else if (issue._tag === "Encoding") yield* faultsOf(issue.issue, path)
  else if (issue._tag === "Composite") { for (const part of issue.issues) yield* faultsOf(part, path) }
  else {
    for (const { message, path: rest = [] } of formatter(issue).issues) {
      yield violation(pathOf([...path, ...rest]), message)
    }
  }
}

/** The violations of an issue, at most 50. */
export const violationsOf = (issue: SchemaIssue.Issue): ReadonlyArray<Violation> =>
  faultsOf(issue).take(maxViolations).toArray()

/** The answer to a request with these violations. */
export const validationFailed = (errors: ReadonlyArray<Violation>) =>
  new ValidationFailed({ param: errors[0]?.param ?? "", errors })

/** Reads a value as an endpoint reads the body of its request. */
export const validated = <S extends Schema.Decoder<unknown>>(schema: S) => {
  const decode = Schema.decodeUnknownEffect(schema, { errors: "all" })
  return (value: unknown): Effect.Effect<S["Type"], ValidationFailed> =>
    Effect.mapError(decode(value), ({ issue }) => validationFailed(violationsOf(issue)))
}

/**
 * The answer to a request that does not match its schemas: 404 for a malformed id in the path, 400 for text that is not
 * JSON, and 422 with up to 50 violations for everything else.
 */
export const fromSchemaError = (
  error: HttpApiError.HttpApiSchemaError
): Effect.Effect<never, NotFound | InvalidJson | ValidationFailed> => {
  switch (error.kind) {
    case "Params":
      return Effect.fail(new NotFound())
    case "Body":
    case "ResponseHeaders":
      return Effect.die(error)
    default: {
      if (isMalformedJson(error.cause.issue)) return Effect.fail(new InvalidJson())
      const errors = violationsOf(error.cause.issue).map((found) => {
        // A query parameter is a string, or a list of strings when its name is repeated.
        const isRepeated = error.kind === "Query" && found.message === "must be a string"
        return isRepeated ? { ...found, message: "must be given once" } : found
      })
      return Effect.fail(validationFailed(errors))
    }
  }
}

import { Effect, Schema } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import type { Violation } from "../../platform/http/ApiErrors.ts"
import { queryOf } from "../../platform/http/RequestContext.ts"
import { validated, validationFailed } from "../../platform/http/violations.ts"
import { Text } from "../../values/Text.ts"

/** A whole number in a query. */
const whole = (minimum: number, maximum: number, standard: number) => {
  const rule = { message: `must be a whole number from ${minimum} to ${maximum}` }
  return Schema.String.check(Schema.isPattern(/^\d{1,9}$/, rule)).pipe(
    Schema.decodeTo(Schema.FiniteFromString.check(Schema.isBetween({ minimum, maximum }, rule))),
    Schema.withDecodingDefaultKey(Effect.succeed(String(standard)))
  )
}

/** A text that a message must contain; empty if any will do. */
export const part = Text.check(Schema.isMaxLength(320, { message: "must have at most 320 characters" })).pipe(
  Schema.withDecodingDefaultKey(Effect.succeed(""))
)

/** The parameters of a list that can wait for its first row. */
export const listQuery = {
  page: whole(1, 100_000, 1),
  per_page: whole(1, 100, 50),
  wait: whole(0, 60, 0)
}

/** The faults of names: a misspelt filter must not match all messages. */
const faultsOf = (given: URLSearchParams, known: ReadonlyArray<string>): ReadonlyArray<Violation> =>
  [...new Set(given.keys())].flatMap((param): ReadonlyArray<Violation> => {
    if (!known.includes(param)) {
      return [{ param, type: "unknown", message: `is not a parameter here; use ${known.join(", ")}` }]
    }
    return given.getAll(param).length > 1 ? [{ param, type: "invalid", message: "must be given once" }] : []
  })

/** Reads the query parameters of a request. `token` belongs to the access, not to the list. */
export const readQuery = <S extends Schema.Decoder<unknown> & { readonly fields: Schema.Struct.Fields }>(schema: S) => {
  const read = validated(schema)
  return Effect.gen(function*() {
    const given = queryOf(yield* HttpServerRequest.HttpServerRequest)
    given.delete("token")
    const faults = faultsOf(given, Object.keys(schema.fields))
    if (faults.length > 0) return yield* validationFailed(faults)
    return yield* read(Object.fromEntries(given))
  })
}

/** A positive integer in the path; 0 for all other text. */
export const numberIn = (name: string) =>
  Effect.map(HttpRouter.params, (params) => {
    const text = params[name] ?? ""
    return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0
  })

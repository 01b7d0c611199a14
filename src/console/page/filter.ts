import { DateTime, Option, Schema } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import type { Ask } from "./Ask.ts"
import { timeOf } from "./Field.ts"

/** The times of a list's filter. */
export const timeNames: ReadonlySet<string> = new Set(["from_date", "to_date"])

/** The parameter with the zone in which a person typed the times of a filter: an address means the same to every reader. */
export const zoneName = "zone"

/** The time that a person typed, in the zone of the address; undefined for another text. */
export const typedTime = ({ query, timezone }: Ask, text: string | null) =>
  timeOf({ timezone: query.get(zoneName) ?? timezone }, text)

/** A filter as the endpoint takes it: of a time that a person typed, the instant. */
const wireOf = (ask: Ask, name: string, value: string) => {
  const time = timeNames.has(name) ? typedTime(ask, value) : undefined
  return time === undefined ? value : DateTime.formatIso(time)
}

/**
 * The filters of the address, checked by the endpoint that gives the same list: those that it would accept, also as the
 * endpoint reads them, and the names of those that it would refuse.
 */
export const filtersIn = <E extends HttpApiEndpoint.Top, const Name extends string>(
  ask: Ask,
  endpoint: E,
  names: ReadonlyArray<Name>
) => {
  const decode = Schema.decodeUnknownOption(
    // The library types the schema of an endpoint's query only in its phantom field.
    endpoint.query as Schema.Codec<E["~Query"]["Type"], unknown>
  )
  const given = names.flatMap((name) => {
    const [first, ...others] = ask.query.getAll(name)
      .flatMap((value) => value === "" ? [] : [wireOf(ask, name, value)])
    return first === undefined ? [] : [{ name, value: others.length === 0 ? first : [first, ...others] }]
  })
  const isValid = ({ name, value }: typeof given[number]) => Option.isSome(decode({ [name]: value }))
  const valid = given.filter(isValid)
  return {
    filter: Option.getOrUndefined(decode(Object.fromEntries(valid.map(({ name, value }) => [name, value])))),
    valid,
    refused: given.filter((one) => !isValid(one)).map(({ name }) => name)
  }
}

/** The filters that the address has and the endpoint accepts. */
export type Given<Name extends string> = ReadonlyArray<{
  readonly name: Name
  readonly value: string | ReadonlyArray<string>
}>

/** The same page with a query of these filters alone. */
export const tidied = <A extends Ask>(ask: A, valid: Given<string>): A => ({
  ...ask,
  query: new URLSearchParams(
    valid.flatMap(({ name, value }) => [value].flat().map((one): [string, string] => [name, one]))
  )
})

import { Option, Schema } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import type { Ask } from "./Ask.ts"

/**
 * The filters of the address, checked by the endpoint that gives the same list: those that it would accept, also as the
 * endpoint reads them, and the names of those that it would refuse.
 */
export const filtersIn = <E extends HttpApiEndpoint.Top, const Name extends string>(
  { query }: Ask,
  endpoint: E,
  names: ReadonlyArray<Name>
) => {
  const decode = Schema.decodeUnknownOption(
    // The library types the schema of an endpoint's query only in its phantom field.
    endpoint.query as Schema.Codec<E["~Query"]["Type"], unknown>
  )
  const given = names.flatMap((name) => {
    const [first, ...others] = query.getAll(name).filter((value) => value !== "")
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

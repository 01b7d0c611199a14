import { DateTime, Option, Schema } from "effect"

/** An instant as the API writes it: UTC, ISO 8601, six decimals, `Z`. The database writes the same form. */
export const Timestamp = Schema.String.pipe(Schema.brand("Timestamp"))
export type Timestamp = typeof Timestamp.Type

/** The one formatter of instants that do not come from the database. */
export const fromDateTime = (instant: DateTime.Utc): Timestamp =>
  Timestamp.make(DateTime.formatIso(instant).replace(/(\.\d{3})Z$/, "$1000Z"))

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/

/** An instant in a request: RFC 3339 with an offset. */
export const TimestampInput = Schema.String.check(
  Schema.makeFilter((text: string) =>
    rfc3339.test(text) && Option.isSome(DateTime.make(text.replace(" ", "T").toUpperCase()))
      ? undefined
      : "must be an RFC 3339 timestamp with an offset, such as 2030-01-31T09:00:00Z"
  )
)

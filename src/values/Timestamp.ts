import { DateTime, Option, Schema } from "effect"

/** An instant in the API: UTC, ISO 8601, six decimals, `Z`. The database uses the same form. */
export const Timestamp = Schema.String.annotate({ format: "date-time" }).pipe(Schema.brand("Timestamp"))
export type Timestamp = typeof Timestamp.Type

/** The only formatter for instants that do not come from the database. */
export const fromDateTime = (instant: DateTime.Utc): Timestamp =>
  Timestamp.make(DateTime.formatIso(instant).replace(/(\.\d{3})Z$/, "$1000Z"))

const rfc3339 =
  /^(?!0000)(\d{4}-\d\d-\d\d)[Tt ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?([Zz]|[+-](0\d|1[0-5]):[0-5]\d)$/

/** Whether the day exists: parsers turn 30 February into a day in March. */
const isDay = (date: string) =>
  Option.exists(DateTime.make(`${date}T00:00:00Z`), (day) => DateTime.formatIso(day).startsWith(date))

/** Whether it is in the years 1 to 9999 in UTC, too, in which answers show it. */
const hasYear = (text: string) =>
  Option.exists(
    DateTime.make(text.toUpperCase().replace(" ", "T")),
    (instant) => /^(?!0000)\d{4}-/.test(DateTime.formatIso(instant))
  )

/** Whether a text is an RFC 3339 timestamp with an offset. */
export const isInstant = (text: string): boolean => isDay(rfc3339.exec(text)?.[1] ?? "") && hasYear(text)

/**
 * An instant in a request: RFC 3339 with an offset, limited to values that PostgreSQL accepts (not 24:00 or +16:00).
 */
export const TimestampInput = Schema.String.annotate({ format: "date-time" }).check(
  Schema.makeFilter((text: string) =>
    isInstant(text)
      ? undefined
      : "must be an RFC 3339 timestamp with an offset, such as 2030-01-31T09:00:00Z"
  )
)

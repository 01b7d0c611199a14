import { DateTime, Option, Schema } from "effect"
import { isInstant } from "./Timestamp.ts"

const form = /^(?!0000)\d{4}-\d\d-\d\d$/

/** A calendar day in the API: `2026-01-31`. */
export const Day = Schema.String.annotate({ format: "date" }).pipe(Schema.brand("Day"))
export type Day = typeof Day.Type

const isDay = (text: string) =>
  form.test(text) &&
  Option.exists(DateTime.make(`${text}T00:00:00Z`), (day) => DateTime.formatIsoDateUtc(day) === text)

/** A day in a request, or a moment, which means its day in UTC. */
export const DayInput = Schema.String.check(
  Schema.makeFilter(
    (text: string) =>
      isDay(text) || isInstant(text)
        ? undefined
        : "must be a day such as 2030-01-31, or a timestamp with an offset such as 2030-01-31T09:00:00Z",
    { toJsonSchema: () => ({ anyOf: [{ format: "date" }, { format: "date-time" }] }) }
  )
)
export type DayInput = typeof DayInput.Type

/** The beginning of the requested day (UTC), or the moment itself, as text that PostgreSQL parses as `timestamptz`. */
export const momentOf = (day: DayInput): string => form.test(day) ? `${day}T00:00:00Z` : day

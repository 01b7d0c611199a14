import { DateTime, Option as Maybe } from "effect"
import type { Key } from "../language/Messages.ts"
import type { Ask } from "./Ask.ts"

/** One choice of a field. */
export interface Option {
  readonly value: string
  readonly label: string
  readonly hint?: string
}

/** A field of a form: how it looks, and how its value is read. */
export interface Field<A> {
  readonly kind: "text" | "time" | "email" | "password" | "textarea" | "select" | "radio" | "checks" | "flag" | "hidden"
  readonly label: Key | undefined
  readonly hint?: Key
  readonly isRequired: boolean
  readonly options?: (ask: Ask) => ReadonlyArray<Option>
  /** The value before a person has typed. */
  readonly initial?: (ask: Ask) => string
  /** For password managers and browsers, such as `email`. */
  readonly autocomplete?: string
  readonly isMono?: boolean
  /** What scripts fill in before a person chooses. */
  readonly guess?: "zone"
  readonly read: (form: URLSearchParams, name: string) => A
}

interface Labelled {
  readonly label: Key
  readonly hint?: Key
  /** Default: required. */
  readonly optional?: boolean
  readonly initial?: (ask: Ask) => string
  readonly autocomplete?: string
  readonly isMono?: boolean
}

/** A field that a person left empty is absent. */
const one = (form: URLSearchParams, name: string): string | undefined => {
  const value = form.get(name)
  return value === null || value === "" ? undefined : value
}

/** Browsers end the lines of a text area with CR LF: two characters, of which an SMS would be charged for both. */
const lines = (form: URLSearchParams, name: string) => one(form, name)?.replaceAll("\r\n", "\n")

const typed = (kind: Field<unknown>["kind"]) => ({ optional, ...rest }: Labelled): Field<string | undefined> => ({
  ...rest,
  kind,
  isRequired: optional !== true,
  read: kind === "textarea" ? lines : one
})

interface Chosen extends Labelled {
  readonly guess?: "zone"
  /** Absent where the page reads them: then the form gives them as `choices`. */
  readonly options?: (ask: Ask) => ReadonlyArray<Option>
}

const chosen = (kind: "select" | "radio") => ({ optional, ...rest }: Chosen): Field<string | undefined> => ({
  ...rest,
  kind,
  isRequired: optional !== true,
  read: one
})

/** The kinds of fields. */
export const Field = {
  text: typed("text"),
  /** A time in the zone of the reader. */
  time: typed("time"),
  email: typed("email"),
  password: typed("password"),
  textarea: typed("textarea"),
  select: chosen("select"),
  radio: chosen("radio"),
  /** Any number of choices. */
  checks: ({ optional, ...rest }: Chosen): Field<ReadonlyArray<string>> => ({
    ...rest,
    kind: "checks",
    isRequired: optional !== true,
    read: (form, name) => form.getAll(name)
  }),
  /** Yes or no. */
  flag: (labelled: Labelled): Field<boolean> => ({
    ...labelled,
    kind: "flag",
    isRequired: false,
    read: (form, name) => form.has(name)
  }),
  /** A value that the page sets, such as the id of a row. */
  hidden: (): Field<string> => ({
    kind: "hidden",
    label: undefined,
    isRequired: false,
    read: (form, name) => form.get(name) ?? ""
  })
}

/** The fields of a form by their names. The name of a field is the API's, so that its faults find it. */
export type Fields = Readonly<Record<string, Field<unknown>>>

/** The values of a form. */
export type Values<F extends Fields> = { readonly [K in keyof F]: F[K] extends Field<infer A> ? A : never }

/** Reads the values of a form. */
export const valuesOf = <F extends Fields>(fields: F, form: URLSearchParams): Values<F> =>
  // Each entry has the type that its field reads.
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.read(form, name)])) as Values<F>

/** The words of a text, such as tags, with spaces, commas or line ends between them. */
export const wordsOf = (text: string | undefined): ReadonlyArray<string> =>
  (text ?? "").split(/[\s,]+/).filter((word) => word !== "")

/** A time in the reader's zone, as a field has it: with seconds only if it is not at the beginning of a minute. */
export const localText = ({ timezone }: Pick<Ask, "timezone">, time: DateTime.DateTime): string =>
  DateTime.formatIsoOffset(DateTime.setZoneNamedUnsafe(time, timezone)).slice(0, 23).replace(/(:00)?\.000$/, "")

/** The time that a person typed in their zone; undefined for another text. */
export const timeOf = (
  { timezone }: Pick<Ask, "timezone">,
  text: string | null | undefined
): DateTime.Zoned | undefined =>
  Maybe.getOrUndefined(
    Maybe.flatMap(
      Maybe.liftPredicate((given: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d(:[\d.]+)?$/.test(given))(text ?? ""),
      (given) => DateTime.makeZoned(`${given}Z`, { timeZone: timezone, adjustForTimeZone: true })
    )
  )

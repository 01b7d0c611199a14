import { Schema, SchemaTransformation } from "effect"
import { Text } from "../values/Text.ts"

const Value = Schema.Union([Text, Schema.Finite, Schema.Boolean, Schema.Null])

const Usable = Schema.Record(Schema.String, Schema.Union([Value, Schema.Record(Schema.String, Value)]))

const isComposite = (value: unknown): value is object => typeof value === "object" && value !== null

/** Drops what no placeholder can read: lists, and values two levels down. */
const usable = (value: unknown): unknown =>
  isComposite(value)
    ? Object.fromEntries(
      Array.isArray(value) ? [] : Object.entries(value).map(([key, inner]) => [key, isComposite(inner) ? null : inner])
    )
    : value

/** The variables of one recipient. `{{user.name}}` reads one level down. */
export const Variables = Schema.Record(Schema.String, Schema.Unknown)
  .annotate({
    description:
      "Values for {{name}} and, one level down, {{user.name}}. Escaped in HTML. Lists and deeper values are ignored"
  })
  .pipe(Schema.decodeTo(
    Usable,
    SchemaTransformation.transform({
      // The check of Usable follows.
      decode: (values) =>
        Object.fromEntries(
          Object.entries(values).map(([name, value]) => [name, usable(value)])
        ) as typeof Usable.Encoded,
      encode: (values) => values
    })
  ))

/** Every recipient of a batch stores these, so they are small. */
const maxCommonBytes = 16_384

const commonVariables = Variables.check(
  Schema.makeFilter((values: typeof Usable.Type) =>
    Buffer.byteLength(JSON.stringify(values)) <= maxCommonBytes
      ? undefined
      : `must have at most ${maxCommonBytes} bytes; give larger values to the recipients`
  )
)

/** The most recipients of one request. */
const maxRecipients = 500

/** The `recipients` and `variables` of a bulk request. Existing clients also send recipients as plain strings. */
export const bulkFields = <To>(to: Schema.Codec<To, string>, named: string) => ({
  recipients: recipientsOf(to).annotate({
    description: `Each recipient has ${named} and values. A plain string is ${named} without values`
  }),
  variables: Schema.optionalKey(
    commonVariables.pipe(
      Schema.annotateEncoded({ description: "Values for all recipients. A recipient's own values take precedence" })
    )
  )
})

/** The recipients with the values that all of them share. */
export const withCommonValues = <R extends { readonly variables?: typeof Usable.Type }>(
  { recipients, variables }: { readonly recipients: ReadonlyArray<R>; readonly variables?: typeof Usable.Type }
): ReadonlyArray<R> =>
  variables === undefined
    ? recipients
    : recipients.map((recipient) => ({ ...recipient, variables: { ...variables, ...recipient.variables } }))

const recipientsOf = <To>(to: Schema.Codec<To, string>) => {
  const Recipient = Schema.Struct({ to, variables: Schema.optionalKey(Variables) })
  const Input = Schema.Union([Schema.String, Schema.toEncoded(Recipient)]).pipe(
    Schema.decodeTo(
      Recipient,
      SchemaTransformation.transform({
        decode: (input) => typeof input === "string" ? { to: input } : input,
        encode: (recipient: typeof Recipient.Encoded): string | typeof Recipient.Encoded => recipient
      })
    )
  )
  return Schema.Array(Input).check(
    Schema.isMinLength(1, { message: "must name at least one recipient" }),
    Schema.isMaxLength(maxRecipients, {
      message: `must name at most ${maxRecipients} recipients; send the rest in another request`
    })
  )
}

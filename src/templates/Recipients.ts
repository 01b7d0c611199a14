import { Schema, SchemaTransformation } from "effect"
import { Text } from "../values/Text.ts"

const Value = Schema.Union([Text, Schema.Finite, Schema.Boolean, Schema.Null])

/** The variables of one recipient. `{{user.name}}` reads one level down. */
export const Variables = Schema.Record(Schema.String, Schema.Union([Value, Schema.Record(Schema.String, Value)]))
  .annotate({ description: "Values for {{name}} and, one level down, {{user.name}}. Escaped in HTML" })

/** The most recipients of one request. */
const maxRecipients = 500

/** The recipients of a bulk request, each with variables. Existing clients also send plain strings. */
export const recipientsOf = <To>(to: Schema.Codec<To, string>) => {
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

import { Effect, Schema, SchemaTransformation } from "effect"
import { EmailAddress } from "../values/EmailAddress.ts"
import { PhoneNumber } from "../values/PhoneNumber.ts"

const Kinds = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("email"), address: Schema.toType(EmailAddress) }),
  Schema.Struct({ kind: Schema.Literal("phone"), address: Schema.toType(PhoneNumber) })
])

const kinds = { email: EmailAddress, phone: PhoneNumber } as const

const kindOf = (text: string) => text.includes("@") ? "email" : "phone"

/** The recipient of a code: an email address or a phone number in E.164. */
export const Recipient = Schema.String.annotate({
  description: "A phone number with its country code, or an email address"
})
  .pipe(
    Schema.decodeTo(
      Kinds,
      SchemaTransformation.transformEffect({
        decode: (text, options) => {
          const kind = kindOf(text)
          return Effect.mapBoth(Schema.decodeEffect(kinds[kind])(text, options), {
            onSuccess: (address) => ({ kind, address }) as typeof Kinds.Encoded,
            onFailure: ({ issue }) => issue
          })
        },
        encode: ({ address }) => Effect.succeed(address)
      })
    )
  )
export type Recipient = typeof Kinds.Type

/** The recipient of a row. It was checked when it was accepted, so the cast is true. */
export const storedRecipient = (address: string): Recipient => ({ kind: kindOf(address), address }) as Recipient

/** Identical for every spelling of a recipient: in practice, mail hosts ignore case. */
export const keyOf = ({ address }: Recipient): string => address.toLowerCase()

/** A number without its last four digits, because premium numbers are allocated in such blocks. */
export const prefixOf = ({ address, kind }: Recipient): string | null => kind === "phone" ? address.slice(0, -4) : null

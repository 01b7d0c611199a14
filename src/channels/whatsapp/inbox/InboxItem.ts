import { Option, Schema } from "effect"
import { decrypt } from "../../../platform/crypto/gcm.ts"
import type { WhatsAppSessionId } from "../../../values/Ids.ts"
import { placeOf } from "../credentials/DataKey.ts"
import type { Stanza } from "../wire/Stanza.ts"

const Attributes = Schema.Record(Schema.String, Schema.String)

/** What of a stanza is kept: its attributes, and those of what is in it, which say whom it is about. */
const Payload = Schema.fromJsonString(Schema.Struct({
  attrs: Attributes,
  change: Schema.optionalKey(Schema.Struct({ tag: Schema.String, members: Schema.Array(Attributes) })),
  body: Schema.optionalKey(Schema.Uint8ArrayFromBase64)
}))
export type Payload = typeof Payload.Type

const encode = Schema.encodeSync(Payload)
const decode = Schema.decodeOption(Payload)

/** Where a payload stands: no other row can pass for it. */
export const inboxPlace = (id: WhatsAppSessionId, chat: string, whatsappId: string): string =>
  placeOf(id, "inbox", `${chat}|${whatsappId}`)

/** The bytes that are encrypted and stored. */
export const encodePayload = (payload: Payload): Uint8Array => Buffer.from(encode(payload))

/** What was stored; undefined where the key is another one by now. */
export const openPayload = (dataKey: Uint8Array, place: string, sealed: Uint8Array): Option.Option<Payload> =>
  Option.flatMap(
    Option.liftThrowable(() => decrypt(dataKey, place, sealed).toString("utf8"))(),
    (json) => decode(json)
  )

const isElement = (part: unknown): part is Stanza => typeof part === "object" && part !== null && "tag" in part

/** The elements in a stanza. */
export const elementsOf = ({ content }: Stanza): ReadonlyArray<Stanza> =>
  Array.isArray(content) ? content.filter(isElement) : []

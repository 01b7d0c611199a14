import { Option, Schema } from "effect"
import { decrypt } from "../../../platform/crypto/gcm.ts"
import type { WhatsAppSessionId } from "../../../values/Ids.ts"
import { placeOf } from "../credentials/DataKey.ts"
import { type Author, authorIn, inboundEnvelope } from "./inboundEnvelope.ts"
import { InboundMessage, inboundMessage } from "./inboundMessage.ts"

const Attributes = Schema.Record(Schema.String, Schema.String)

/**
 * The stored form of a message or of a membership change. Nodes of a version before `message` was added still read
 * `attrs` and `body` during an upgrade, and write rows without `message`.
 */
const Payload = Schema.fromJsonString(Schema.Struct({
  /** The attributes of the stanza. */
  attrs: Attributes,
  change: Schema.optionalKey(Schema.Struct({ tag: Schema.String, members: Schema.Array(Attributes) })),
  /** The serialised message, which locates and opens its file. */
  body: Schema.optionalKey(Schema.Uint8ArrayFromBase64),
  /** The parsed message. */
  message: Schema.optionalKey(InboundMessage)
}))
type Payload = typeof Payload.Type

const encode = Schema.encodeSync(Payload)
const decode = Schema.decodeOption(Payload)

/** The place that a payload is bound to, so that no other row can hold it. */
export const inboxPlace = (id: WhatsAppSessionId, chat: string, whatsappId: string): string =>
  placeOf(id, "inbox", `${chat}|${whatsappId}`)

/** The bytes to encrypt and store. */
export const encodePayload = (payload: Payload): Uint8Array => Buffer.from(encode(payload))

/** Decrypts a stored payload; none if the session has another data key by now. */
export const openPayload = (dataKey: Uint8Array, place: string, sealed: Uint8Array): Option.Option<Payload> =>
  Option.flatMap(
    Option.liftThrowable(() => decrypt(dataKey, place, sealed).toString("utf8"))(),
    (json) => decode(json)
  )

interface Item {
  readonly id: number
  readonly chat: string
  readonly whatsappId: string
}

/** An unpublished message. */
export interface MessageItem extends Item {
  readonly kind: "message"
  readonly author: Author
  readonly isGroup: boolean
  readonly pushName: string | undefined
  readonly sentAt: number | undefined
  readonly message: InboundMessage
}

/** An unpublished change of a group's members. */
export interface MembersItem extends Item {
  readonly kind: "group"
  readonly action: "add" | "remove"
  readonly actor: Author
  readonly members: ReadonlyArray<Author>
}

/** An opened row of the inbox; `nothing` if there is nothing to publish. */
export type InboxItem = MessageItem | MembersItem | (Item & { readonly kind: "nothing" })

/** Everyone whom an item names. */
export const authorsOf = (item: InboxItem): ReadonlyArray<Author> =>
  item.kind === "message" ? [item.author] : item.kind === "group" ? [item.actor, ...item.members] : []

/** Reads a row with its opened payload. A message is parsed here only if an older version stored it. */
export const inboxItem = (item: Item, payload: Payload | undefined): InboxItem => {
  const nothing = { ...item, kind: "nothing" } as const
  if (payload === undefined) return nothing
  const { attrs, body, change } = payload
  if (change !== undefined) {
    return {
      ...item,
      kind: "group",
      action: change.tag === "add" ? "add" : "remove",
      actor: authorIn(attrs["participant"], attrs["participant_lid"], attrs["participant_pn"]),
      members: change.members.map((member) => authorIn(member["jid"], member["lid"], member["phone_number"]))
    }
  }
  const envelope = inboundEnvelope({ tag: "message", attrs })
  const message = payload.message ?? (body === undefined ? undefined : inboundMessage(body))
  if (envelope === undefined || message === undefined) return nothing
  const { author, isGroup, pushName, sentAt } = envelope
  return { ...item, kind: "message", author, isGroup, pushName, sentAt, message }
}

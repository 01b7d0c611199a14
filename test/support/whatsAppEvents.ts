import { proto } from "@whiskeysockets/baileys"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { dataKeyPlace } from "../../src/channels/whatsapp/credentials/DataKey.ts"
import { encodePayload, inboxPlace } from "../../src/channels/whatsapp/inbox/InboxItem.ts"
import { encrypt } from "../../src/platform/crypto/gcm.ts"
import { Vault } from "../../src/platform/crypto/Vault.ts"
import { WhatsAppSessionId } from "../../src/values/Ids.ts"
import { encryptionKey, eventually, makeAccount, type RunningNode } from "./Service.ts"
import { longer } from "./waiting.ts"
import { makeWebhookReceiver } from "./WebhookReceiver.ts"
import { create } from "./webhookStories.ts"

/** An event as a webhook received it. */
export interface ReceivedEvent {
  readonly id: string
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
}

/** An account with a webhook for inbound messages and group events, and the events received, each once. */
export const inboundAccount = Effect.fnUntraced(function*(node: RunningNode) {
  const account = yield* makeAccount()
  const receiver = yield* makeWebhookReceiver({ script: [200] })
  yield* create(node, account.key, { url: `${receiver.url}/hook`, events: ["message.received", "group.*"] })
  // The bodies are what the service documents.
  const parse = (body: Buffer) => JSON.parse(body.toString("utf8")) as ReceivedEvent
  const events = () => {
    const byId = new Map(receiver.requests.map(({ body }) => parse(body)).map((event) => [event.id, event]))
    return [...byId.values()]
  }
  // Up to eight deliveries are in flight, so events arrive in any order; messages are sorted by id.
  const of = (name: string) =>
    events().filter(({ event }) => event === name).map(({ data }) => data)
      .toSorted((a, b) => Number(a["message_id"] ?? 0) - Number(b["message_id"] ?? 0))
  return {
    ...account,
    events,
    of,
    /** Data of the events with this name, once there are `n`. */
    published: (name: string, n: number) =>
      eventually(Effect.sync(() => of(name)), (all) => all.length >= n, longer.turn)
  }
})

/** Inserts an unpublished message into a session's inbox, as a node leaves it that dies right after the receipt. */
export const leftBehind = Effect.fnUntraced(
  function*(
    session: number,
    attrs: Readonly<Record<string, string>>,
    message: proto.IMessage
  ) {
    const sql = yield* SqlClient.SqlClient
    const vault = yield* Vault
    const id = WhatsAppSessionId.make(session)
    const { from: chat = "", id: name = "" } = attrs
    const [row] = yield* sql`select data_key from whatsapp_sessions where id = ${id}`
    const key = yield* vault.open(dataKeyPlace(id), row?.["data_key"] as Uint8Array)
    const body = proto.Message.encode(message).finish()
    const payload = encrypt(key, inboxPlace(id, chat, name), encodePayload({ attrs, body }))
    yield* sql`insert into whatsapp_inbox (session_id, kind, chat, whatsapp_id, payload)
    values (${id}, 'message', ${chat}, ${name}, ${payload})`
  },
  Effect.provide(Vault.layer(Redacted.make(Buffer.from(encryptionKey, "base64")))),
  Effect.orDie
)

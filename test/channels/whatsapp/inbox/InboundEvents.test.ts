import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { ContactsRepo } from "../../../../src/channels/whatsapp/directory/ContactsRepo.ts"
import { GroupsRepo } from "../../../../src/channels/whatsapp/directory/GroupsRepo.ts"
import * as InboundEvents from "../../../../src/channels/whatsapp/inbox/InboundEvents.ts"
import type { InboxItem, MessageItem } from "../../../../src/channels/whatsapp/inbox/InboxItem.ts"
import { InboxRepo } from "../../../../src/channels/whatsapp/inbox/InboxRepo.ts"
import { type DomainEvent, Events } from "../../../../src/events/Events.ts"
import { Vault } from "../../../../src/platform/crypto/Vault.ts"
import { plansOf, rowsRead } from "../../../support/plans.ts"
import { makeSessionRow } from "../../../support/sessionRow.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"
import { eventsWith } from "../../../support/testEvents.ts"

const published: Array<DomainEvent> = []

const Subject = Layer.mergeAll(InboxRepo.layer, ContactsRepo.layer, GroupsRepo.layer).pipe(
  Layer.provideMerge(Layer.succeed(
    Events,
    eventsWith((events) => Effect.sync(() => void published.push(...events)))
  )),
  Layer.provideMerge(Vault.layer(Redacted.make(new Uint8Array(32)))),
  Layer.provideMerge(TestDatabase.layer)
)

type Reference = Pick<MessageItem["message"], "refersTo" | "refersToGroup">

/** A session whose inbox gets messages and publishes them. */
const scene = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { publish } = yield* InboundEvents.make
  const { id } = yield* makeSessionRow(true)
  const [row] = yield* sql`update whatsapp_sessions set epoch = 1 where id = ${id} returning epoch`
  const owned = { id, epoch: Number(row?.["epoch"]) }
  const add = Effect.fnUntraced(function*(kind: InboxItem["kind"], chat: string, whatsappId: string) {
    const [added] = yield* sql`insert into whatsapp_inbox (session_id, kind, chat, whatsapp_id)
      values (${id}, ${kind}, ${chat}, ${whatsappId}) returning id`
    return Number(added?.["id"])
  })
  const publishItem = (item: InboxItem) =>
    Effect.sync(() => published.splice(0)).pipe(
      Effect.andThen(publish({ owned, items: [item], phones: new Map() })),
      Effect.map(() => published.map(({ data }) => data as Readonly<Record<string, unknown>>))
    )
  /** Publishes a text of a chat, and returns its id and the id of the message that it answers. */
  const text = Effect.fnUntraced(function*(chat: string, whatsappId: string, reference: Reference = {}) {
    const isGroup = chat.endsWith("@g.us")
    const [event] = yield* publishItem({
      id: yield* add("message", chat, whatsappId),
      kind: "message",
      chat,
      whatsappId,
      author: { lid: chat.endsWith("@lid") ? chat : undefined, phone: "15550100777" },
      isGroup,
      pushName: undefined,
      sentAt: undefined,
      message: { type: "text", content: { body: "Hello" }, refersTo: undefined, hasFile: false, ...reference }
    })
    const content = event?.["content"] as Readonly<Record<string, unknown>> | undefined
    return { id: event?.["message_id"], answers: content?.["reply_to"] }
  })
  return { id, add, publishItem, text }
})

layer(Subject, { excludeTestServices: true })("InboundEvents", (it) => {
  it.effect("names the message of the reply's own chat if another chat has one of the same name", () =>
    Effect.gen(function*() {
      const { text } = yield* scene
      const first = yield* text("1@lid", "A")
      const second = yield* text("2@lid", "A")
      assert.strictEqual((yield* text("1@lid", "B", { refersTo: "A" })).answers, first.id)
      assert.strictEqual((yield* text("2@lid", "B", { refersTo: "A" })).answers, second.id)
      assert.isNull((yield* text("3@lid", "B", { refersTo: "A" })).answers)
    }))

  it.effect("names the message of a group that is answered in private, and one from when the chat was a phone number", () =>
    Effect.gen(function*() {
      const { text } = yield* scene
      const inGroup = yield* text("1@g.us", "A")
      const earlier = yield* text("15550100777@s.whatsapp.net", "B")
      const reply = yield* text("1@lid", "C", { refersTo: "A", refersToGroup: "1@g.us" })
      assert.strictEqual(reply.answers, inGroup.id)
      assert.strictEqual((yield* text("1@lid", "D", { refersTo: "B" })).answers, earlier.id)
    }))

  it.effect("publishes a change of members once if its batch is published again", () =>
    Effect.gen(function*() {
      const { add, publishItem } = yield* scene
      const named = { chat: "1@g.us", whatsappId: "A" }
      const member = { lid: undefined, phone: "15550100300" }
      const item: InboxItem = {
        ...named,
        id: yield* add("group", named.chat, named.whatsappId),
        kind: "group",
        action: "add",
        actor: member,
        members: [member]
      }
      assert.lengthOf(yield* publishItem(item), 1)
      assert.lengthOf(yield* publishItem(item), 0)
    }))

  it.effect("finds the message that a reply answers without reading the others of the session", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { messageIds } = yield* InboxRepo
      const { id, text } = yield* scene
      const first = yield* text("1@lid", "A")
      yield* sql`insert into whatsapp_inbox (session_id, kind, chat, whatsapp_id)
        select ${id}, 'message', n % 10 || '@lid', 'N' || n from generate_series(1, 5000) n`
      yield* sql`analyze whatsapp_inbox`
      const names = [{ chat: "1@lid", whatsapp_id: "A" }]
      const [plan = ""] = yield* plansOf(messageIds({ sessionId: id, names }), "whatsapp_inbox")
      assert.isBelow(rowsRead(plan), 10, plan)
      assert.deepStrictEqual((yield* messageIds({ sessionId: id, names })).map((row) => row.message_id), [first.id])
    }))
})

import { assert } from "@effect/vitest"
import { type Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventually, type RunningNode } from "../support/Service.ts"
import { longer } from "../support/waiting.ts"
import { WhatsApp } from "../support/WhatsApp.ts"
import type { inboundAccount } from "../support/whatsAppEvents.ts"

/** Number of phones that a session sends to, in turn. */
export const people = 10

export const makePeople = Effect.flatMap(
  WhatsApp,
  ({ phone }) => Effect.forEach(Array.from({ length: people }), () => phone)
)

export const textsOf = (count: number, name: string) => Array.from({ length: count }, (_, index) => `${name}-${index}`)

/** Waits until no message is queued. */
export const settled = Effect.fnUntraced(function*(node: RunningNode, key: string) {
  yield* eventually(
    node.request("GET", "/v1/whatsapp/messages?status=queued", { key }),
    ({ at, status }) => status === 200 && at("meta", "total") === 0,
    longer.takeover
  )
})

/**
 * Checks that every text arrived once, the nth at the nth phone in turn, under its row's WhatsApp id. Returns how many
 * arrived twice under that id; a phone shows such a message once.
 */
export const checkPhones = Effect.fnUntraced(
  function*(phones: ReadonlyArray<string>, sent: { readonly from: string; readonly texts: ReadonlyArray<string> }) {
    const sql = yield* SqlClient.SqlClient
    const { simulator: { controls } } = yield* WhatsApp
    const own = yield* Effect.forEach(phones, (phone, index) => {
      const expected = sent.texts.filter((_, at) => at % phones.length === index)
      const seen = () =>
        controls.messages(phone).filter(({ from, text }) => from === sent.from && sent.texts.includes(text ?? ""))
      return Effect.map(
        eventually(Effect.sync(seen), ({ length }) => length >= expected.length, longer.takeover),
        (all) => {
          assert.deepStrictEqual(all.map(({ text }) => text).toSorted(), expected.toSorted())
          return all
        }
      )
    })
    const rows = yield* sql`select o.whatsapp_id, m.content ->> 'body' as body from whatsapp_outbox o
      join messages m on m.id = o.message_id`
    const names = new Map(rows.map((row) => [String(row["body"]), row["whatsapp_id"]]))
    for (const { id, text } of own.flat()) assert.strictEqual(id, names.get(text ?? ""))
    return own.flat().filter(({ arrivals }) => arrivals > 1).length
  }
)

/** A text sent from a phone to a session. */
export interface Written {
  readonly text: string
  readonly from: string
}

/** Phones write to a session one after the other with this pause, addressed by number and LID in turn. */
export const writing = Effect.fnUntraced(
  function*(texts: ReadonlyArray<Written>, to: string, pause: Duration.Input) {
    const { simulator: { controls } } = yield* WhatsApp
    for (const [index, { from, text }] of texts.entries()) {
      const addressing = index % 2 === 0 ? "pn" : "lid"
      yield* Effect.promise(() => controls.sendText(from, to, { text, addressing }))
      yield* Effect.sleep(pause)
    }
  }
)

/** Checks that every text was published in one event with one message, and that the inbox is empty. */
export const checkPublished = Effect.fnUntraced(
  function*(
    account: Effect.Success<ReturnType<typeof inboundAccount>>,
    all: ReadonlyArray<Written>
  ) {
    const sql = yield* SqlClient.SqlClient
    const messages = yield* account.published("message.received", all.length)
    yield* eventually(
      sql`select from whatsapp_inbox where done_at is null`,
      (rows) => rows.length === 0,
      longer.takeover
    )
    const seen = messages.map(({ content, from }) => `${String(from)} ${(content as { readonly body: string }).body}`)
    assert.deepStrictEqual(seen.toSorted(), all.map(({ from, text }) => `+${from} ${text}`).toSorted())
    assert.strictEqual(new Set(messages.map(({ message_id }) => message_id)).size, all.length)
    // All stored events: a second one for the same message would be among them.
    const events = yield* sql`select from events where name = 'message.received'`
    assert.strictEqual(events.length, all.length)
  }
)

/** Counts of decryption failures, retries and duplicates over all phones. */
export const troubles = Effect.map(WhatsApp, ({ simulator }) => {
  const counters = Object.values(simulator.controls.counters().phones)
  const sum = (of: (one: typeof counters[number]) => number) => counters.reduce((total, one) => total + of(one), 0)
  return {
    decryptFailures: sum((one) => one.decryptFailures),
    retriesAsked: sum((one) => one.retriesAsked),
    retriesAnswered: sum((one) => one.retriesAnswered),
    failures: sum((one) => one.failures),
    duplicates: sum((one) => one.duplicates)
  }
})

/** Every message arrived once and was decrypted at the first attempt, in both directions. */
export const noTroubles = { decryptFailures: 0, retriesAsked: 0, retriesAnswered: 0, failures: 0, duplicates: 0 }

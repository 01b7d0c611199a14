import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ended, sendBulk } from "../support/bulkMail.ts"
import { eventually, makeAccount, type RunningNode, startNode } from "../support/Service.ts"
import { sendEmail } from "../support/singleMail.ts"
import * as SmtpSink from "../support/SmtpSink.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"

const people = (count: number, name: string) => Array.from({ length: count }, (_, n) => `${name}${n}@people.example`)

const letter = (recipients: ReadonlyArray<string>) => ({ subject: "Hello", html: "Hello", recipients })

/** Whether a batch's actor has begun it on the node. */
const hasBegun = (node: RunningNode, batch: string) =>
  node.logs.some((line) => line.includes(batch) && line.includes("sending a batch on this node"))

/** The most that is claimed at once until nothing is left to send. */
const mostUntilDone = Effect.fnUntraced(function*(what: "count(*)" | "count(distinct batch_id)") {
  const sql = yield* SqlClient.SqlClient
  let most = 0
  yield* eventually(
    sql`select ${sql.literal(what)} filter (where status = 'sending') as claimed, count(*) as left from email_messages
      where status in ('queued', 'sending')`,
    ([row]) => {
      most = Math.max(most, Number(row?.["claimed"]))
      return Number(row?.["left"]) === 0
    },
    longer.load
  )
  return most
})

layer(TestDatabase.layer, { excludeTestServices: true })("a small batch", (it) => {
  it.effect("is sent by the node that accepts it, without its actor and without a message of the cluster", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const sink = yield* SmtpSink.make()
      const options = { smtpPort: sink.port, env: { LOG_LEVEL: "debug" } }
      const nodes = yield* Effect.all([startNode(options), startNode(options)], { concurrency: 2 })
      const { key } = yield* makeAccount()
      yield* sendEmail(nodes[0], key, { to: "first@people.example", subject: "Hello", text: "Hello" })
      const batches = yield* Effect.forEach(
        Array.from({ length: 12 }, (_, n) => n),
        (n) => sendBulk(nodes[n % 2] ?? nodes[0], key, letter(people(n + 1, `one${n}-`)))
      )
      for (const [n, batch] of batches.entries()) {
        const { at } = yield* ended(nodes[0], key, batch)
        assert.deepInclude(at("data"), { status: "completed", total: n + 1, sent: n + 1, queued: 0 })
        assert.isFalse(nodes.some((node) => hasBegun(node, batch)), batch)
      }
      assert.strictEqual(sink.messages.length, 1 + 78)
      assert.deepStrictEqual(yield* sql`select tag from cluster_messages`, [])
      // Those that the node accepts while it is behind begin later.
      const [row] = yield* sql`select count(*) as at_once from email_batches where started_at = created_at`
      assert.isAbove(Number(row?.["at_once"]), 0, "batches that began in the transaction that accepted them")
    }))

  it.effect("is canceled by another node than the one that sends it, and no mail begins after the answer", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make({ script: () => ({ at: "never", delayMillis: 500, rcptMillis: 500 }) })
      const options = { smtpPort: sink.port }
      const nodes = yield* Effect.all([startNode(options), startNode(options)], { concurrency: 2 })
      const { key } = yield* makeAccount()
      const batch = yield* sendBulk(nodes[0], key, letter(people(50, "cancel")))
      yield* sink.until(({ attempts }) => attempts.size >= 5)
      const path = `/v1/email/batches/${batch}`
      const answer = yield* nodes[1].request("POST", `${path}/cancel`, { key })
      assert.strictEqual(answer.status, 200, answer.text)
      // What the node wrote before has arrived with this answer at the latest.
      yield* nodes[1].request("GET", path, { key })
      const begun = sink.attempts.size
      const { at } = yield* eventually(
        nodes[1].request("GET", path, { key }),
        ({ at }) => typeof at("data", "completed_at") === "string"
      )
      assert.deepInclude(at("data"), { status: "canceled", sent: begun, canceled: 50 - begun })
      assert.strictEqual(sink.attempts.size, begun)
      assert.isAbove(50 - begun, 10)
    }))

  it.effect("waits in the table while the node is behind, in turns of the accounts, and its actor is not needed", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make({ script: () => ({ at: "never", delayMillis: 60 }) })
      const node = yield* startNode({ smtpPort: sink.port, env: { LOG_LEVEL: "debug" } })
      const { key } = yield* makeAccount()
      const other = yield* makeAccount()
      const send = (name: string) => sendBulk(node, key, letter(people(10, name)))
      const numbers = Array.from({ length: 100 }, (_, n) => n)
      const batches = yield* Effect.forEach(numbers, (n) => send(`many${n}-`), { concurrency: 10 })
      const late = yield* sendBulk(node, other.key, letter(people(10, "late")))
      const most = yield* mostUntilDone("count(*)")
      assert.isBelow(most, 450, "200 wait for a slot, those of 10 requests may come on top, and some are in flight")
      yield* ended(node, other.key, late)
      for (const batch of batches) {
        const { at } = yield* ended(node, key, batch)
        assert.deepInclude(at("data"), { status: "completed", sent: 10 })
        assert.isFalse(hasBegun(node, batch))
      }
      assert.strictEqual(sink.messages.length, 1_010)
      const order = sink.messages.map(({ to }) => String(to[0]))
      assert.isBelow(order.findIndex((to) => to.startsWith("late")), order.length - 100)
    }))
})

layer(TestDatabase.layer, { excludeTestServices: true })("large batches", (it) => {
  it.effect("are sent by actors, at most 50 at once, and the others wait in the table", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make()
      const node = yield* startNode({ smtpPort: sink.port, env: { LOG_LEVEL: "debug" } })
      const { key } = yield* makeAccount()
      const numbers = Array.from({ length: 60 }, (_, n) => n)
      const send = (n: number) => sendBulk(node, key, letter(people(51, `large${n}-`)))
      const batches = yield* Effect.forEach(numbers, send, { concurrency: 10 })
      assert.isAtMost(yield* mostUntilDone("count(distinct batch_id)"), 50)
      for (const batch of batches) {
        const { at } = yield* ended(node, key, batch)
        assert.deepInclude(at("data"), { status: "completed", sent: 51 })
        assert.isTrue(hasBegun(node, batch))
      }
      assert.strictEqual(sink.messages.length, 60 * 51)
    }))
})

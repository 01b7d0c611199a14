import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { secondsAhead } from "../support/scheduled.ts"
import { makeAccount, type RunningNode } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { pairedSession, WhatsApp } from "../support/WhatsApp.ts"
import { unpaced } from "../support/whatsAppMessages.ts"
import { hasSession, listen, makeCluster, randomPause } from "./FaultCluster.ts"
import { rounds } from "./inTime.ts"
import { accepted, ahead, change, checkAnswers, fates, makeDue, quiet, statuses } from "./scheduledFates.ts"

/** Single messages of each fate, and recipients of the batch beside them. */
const singles = 8
const ofBatch = 6

/** Each message has its own phone. */
const plan = Effect.fnUntraced(function*(node: RunningNode, key: string, session_id: number) {
  const { phone } = yield* WhatsApp
  const send_at = yield* secondsAhead(3_600)
  const body = { session_id, content: "Hello", send_at }
  const planned = yield* Effect.forEach(
    fates,
    Effect.fnUntraced(function*(fate) {
      const to = yield* Effect.forEach(
        Array.from({ length: singles + ofBatch }),
        () => Effect.map(phone, (one) => `+${one}`)
      )
      const post = (some: ReadonlyArray<string>, isBatch: boolean) =>
        accepted(node, key, { channel: "whatsapp", fate, to: some, isBatch, body })
      return yield* Effect.all([
        ...to.slice(0, singles).map((one) => post([one], false)),
        post(to.slice(singles), true)
      ], { concurrency: 4 })
    })
  )
  return planned.flat()
})

/** What a phone has of a session. It shows a message that arrived twice under its id once. */
const shownAt = Effect.fnUntraced(function*(from: string, to: string) {
  const { simulator: { controls } } = yield* WhatsApp
  return controls.messages(to.slice(1)).filter((message) => message.from === from)
})

layer(Layer.mergeAll(TestDatabase.layer, WhatsApp.simulated), { excludeTestServices: true, timeout: "10 minutes" })(
  "kill -9 of a node beside scheduled WhatsApp messages",
  (it) => {
    it.effect(
      "a killed node loses no scheduled WhatsApp message, sends none early, and repeats only those in flight, under their ids",
      () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const { env } = yield* WhatsApp
          const cluster = makeCluster({ env: { ...env, ...unpaced } })
          yield* Effect.all([cluster.start, cluster.start], { concurrency: 2 })
          for (let round = 0; round < rounds; round++) {
            const { accountId: account, key } = yield* makeAccount()
            const receiver = yield* makeWebhookReceiver()
            yield* listen(cluster.any(0), key, { url: receiver.url, events: ["message.queued", "message.sent"] })
            const session = yield* pairedSession(cluster.any(0), key)
            const { node: owner } = yield* cluster.ownerOf(hasSession(session.id))
            const other = [cluster.any(0), cluster.any(1)].find((node) => node !== owner) ?? owner
            const planned = yield* plan(other, key, session.id)
            yield* makeDue(account, ["due", "canceled", "rescheduled"], ahead)
            // The node with the session dies, or the one that is asked.
            const killed = round % 2 === 0 ? owner : other
            const changing = yield* Effect.forkChild(change(round % 4 < 2 ? other : owner, key, planned))
            const pause = yield* randomPause(0, 2 * ahead)
            yield* cluster.kill(killed)
            const doubtful =
              (yield* sql`select m.recipient from whatsapp_outbox o join messages m on m.id = o.message_id
              where m.account_id = ${account} and o.status = 'written'`).map((row) => String(row["recipient"]))
            const answers = yield* Fiber.join(changing)
            const waiting = planned.filter(({ fate }) => fate === "waiting").flatMap(({ to }) => to)
            const untilDue = yield* statuses(account)
            assert.deepStrictEqual(waiting.filter((to) => untilDue.get(to) !== "scheduled"), [])
            yield* makeDue(account, ["waiting"], 0)
            yield* quiet(account)

            const first = yield* statuses(account)
            const counts = checkAnswers(answers, first)
            for (const [to, status] of first) {
              if (status !== "scheduled" && status !== "canceled") continue
              assert.lengthOf(yield* shownAt(session.number, to), 0, `${to} was sent`)
            }

            yield* makeDue(account, ["rescheduled"], 0)
            yield* quiet(account)
            const last = yield* statuses(account)
            const canceled = [...last].filter(([, status]) => status === "canceled")
            const sent = [...last].filter(([, status]) => ["sent", "delivered", "read"].includes(status)).map(([to]) =>
              to
            )
            assert.strictEqual(sent.length + canceled.length, planned.flatMap(({ to }) => to).length)
            const rows = yield* sql`select m.recipient, o.whatsapp_id from whatsapp_outbox o
              join messages m on m.id = o.message_id where m.account_id = ${account}`
            const ids = new Map(rows.map((row) => [row["recipient"], row["whatsapp_id"]]))
            let twice = 0
            for (const to of sent) {
              const shown = yield* shownAt(session.number, to)
              assert.deepStrictEqual(shown.map(({ id }) => id), [ids.get(to)], to)
              const arrivals = shown[0]?.arrivals ?? 0
              if (arrivals === 1) continue
              twice++
              assert.isTrue(arrivals === 2 && doubtful.includes(to), `${to} got ${arrivals} copies`)
            }
            const events = yield* sql`select name, count(*)::int as count, count(distinct message_id)::int as messages
              from events e where account_id = ${account} and name in ('message.queued', 'message.sent')
                and exists (select from messages m where m.id = e.message_id and m.status <> 'canceled')
              group by name order by name`
            assert.deepStrictEqual(events.map(({ count, messages, name }) => [name, count, messages]), [
              ["message.queued", sent.length, sent.length],
              ["message.sent", sent.length, sent.length]
            ])
            yield* Effect.log(
              `killed after ${pause} ms: ${sent.length} sent, ${canceled.length} canceled, ${
                JSON.stringify(counts)
              }, ${doubtful.length} in doubt, ${twice} twice under their ids`
            )
            yield* cluster.start
          }
        }),
      120_000 + rounds * 90_000
    )
  }
)

import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { secondsAhead } from "../support/scheduled.ts"
import { makeAccount, type RunningNode } from "../support/Service.ts"
import { freshNumber } from "../support/sms.ts"
import { makeSmsc } from "../support/Smsc.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { between, checkLedger, listen, makeCluster, randomPause, slowPeople } from "./FaultCluster.ts"
import { rounds } from "./inTime.ts"
import { accepted, ahead, change, checkAnswers, fates, makeDue, quiet, statuses } from "./scheduledFates.ts"
import { sinkProcess } from "./SinkProcess.ts"

/** Single messages of each channel and fate, and recipients of the batch beside them. */
const singles = 12
const ofBatch = 10

const bodies = { email: { subject: "Hello", html: "<p>Hello</p>" }, sms: { content: "Hello" } }

const plan = Effect.fnUntraced(function*(node: RunningNode, key: string, round: number) {
  const send_at = yield* secondsAhead(3_600)
  const posts = fates.flatMap((fate) => {
    const people = slowPeople(singles + ofBatch, `${fate}${round}`)
    const numbers = Array.from({ length: singles + ofBatch }, freshNumber)
    return ([["email", people], ["sms", numbers]] as const).flatMap(([channel, to]) => {
      const post = (some: ReadonlyArray<string>, isBatch: boolean) =>
        accepted(node, key, { channel, fate, to: some, isBatch, body: { ...bodies[channel], send_at } })
      return [...to.slice(0, singles).map((one) => post([one], false)), post(to.slice(singles), true)]
    })
  })
  return yield* Effect.all(posts, { concurrency: 8 })
})

/** Only nodes are killed, so the shared test server without fsync is enough. */
layer(TestDatabase.layer, { excludeTestServices: true, timeout: "10 minutes" })(
  "kill -9 of a node beside scheduled messages",
  (it) => {
    it.effect(
      "a killed node loses no scheduled message in any state, sends none early, and only those in flight twice",
      () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const sink = yield* sinkProcess
          const smsc = yield* makeSmsc(() => ({ afterMillis: between(5, 60) }))
          const cluster = makeCluster({
            smtpPort: sink.port,
            env: { SMS_PROVIDER: "smpp", SMPP_URL: smsc.url, SMPP_MAX_PER_SECOND: "100000" }
          })
          yield* Effect.all([cluster.start, cluster.start], { concurrency: 2 })
          for (let round = 0; round < rounds; round++) {
            const { accountId: account, key } = yield* makeAccount()
            const receiver = yield* makeWebhookReceiver()
            yield* listen(cluster.any(0), key, {
              url: receiver.url,
              events: ["message.queued", "message.sent", "email.sent"]
            })
            const node = cluster.any(round)
            const planned = yield* plan(node, key, round)
            yield* makeDue(account, ["due", "canceled", "rescheduled"], ahead)
            const changing = yield* Effect.forkChild(change(node, key, planned))
            const pause = yield* randomPause(0, 2 * ahead)
            yield* cluster.kill(node)
            const doubtful = (yield* sql`select recipient from email_messages
                where account_id = ${account} and status = 'sending'
              union all select m.recipient from sms_parts p join messages m on m.id = p.message_id
                where m.account_id = ${account} and p.status = 'sending'`).map((row) => String(row["recipient"]))
            const answers = yield* Fiber.join(changing)
            const waiting = planned.filter(({ fate }) => fate === "waiting").flatMap(({ to }) => to)
            const untilDue = yield* statuses(account)
            assert.deepStrictEqual(waiting.filter((to) => untilDue.get(to) !== "scheduled"), [])
            yield* makeDue(account, ["waiting"], 0)
            yield* quiet(account)

            const first = yield* statuses(account)
            const counts = checkAnswers(answers, first)
            const copies = (number: string) => smsc.submits.filter(({ to }) => `+${to}` === number).length
            const kept = [...first].filter(([, status]) => status === "scheduled" || status === "canceled")
            const early = new Set((yield* sink.messages).flatMap(({ to }) => to))
            // A recipient of a canceled batch may have been in flight on the killed node.
            const unsent = kept.filter(([to, status]) => status === "scheduled" || !doubtful.includes(to))
            for (const [to] of unsent) assert.isFalse(early.has(to) || copies(to) > 0, `${to} was sent`)

            yield* makeDue(account, ["rescheduled"], 0)
            yield* quiet(account)
            const last = yield* statuses(account)
            const sent = [...last].filter(([, status]) => status === "sent" || status === "delivered").map(([to]) => to)
            const canceled = [...last].filter(([, status]) => status === "canceled").map(([to]) => to)
            assert.strictEqual(sent.length + canceled.length, planned.flatMap(({ to }) => to).length)
            const isMail = (to: string) => to.includes("@")
            // Three batches were due, and single mail.
            const ledger = { recipients: sent.filter(isMail), doubtful, claims: 4 }
            const twice = checkLedger(yield* sink.messages, ledger)
            for (const to of sent.filter((one) => !isMail(one))) {
              assert.isTrue(copies(to) === 1 || copies(to) === 2 && doubtful.includes(to), `${copies(to)} of ${to}`)
            }

            // What was canceled has given its quota back, and each event was published once.
            const used = yield* sql`select metric, sum(count)::int as count from usage_daily
              where account_id = ${account} and metric in ('email', 'sms') group by metric order by metric`
            const texts = sent.filter((to) => !isMail(to)).length
            assert.deepStrictEqual(used.map(({ count, metric }) => [metric, count]), [
              ["email", sent.length - texts],
              ["sms", texts]
            ])
            // A text of a batch that was queued may still have been canceled.
            const events =
              yield* sql`select name, count(*)::int as count, count(distinct (channel, message_id))::int as messages
              from events e where account_id = ${account} and not (name = 'message.queued' and exists (
                select from messages m where m.id = e.message_id and m.status = 'canceled'))
              group by name order by name`
            assert.deepStrictEqual(events.map((row) => [row["name"], row["messages"]]), [
              ["email.sent", sent.length - texts],
              ["message.queued", texts],
              ["message.sent", texts]
            ])
            assert.deepStrictEqual(events.map(({ count }) => count), events.map(({ messages }) => messages))
            yield* Effect.log(
              `killed after ${pause} ms: ${sent.length} sent, ${canceled.length} canceled, ${
                JSON.stringify(counts)
              }, ${doubtful.length} in doubt, ${twice} mails twice`
            )
            yield* cluster.start
          }
        }),
      120_000 + rounds * 90_000
    )
  }
)

import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventually, makeAccount, startNode } from "../support/Service.ts"
import { reaching, sendEmail } from "../support/singleMail.ts"
import * as SmtpSink from "../support/SmtpSink.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { create } from "../support/webhookStories.ts"

/** Moves the clock of a Node process. */
const shift = (hours: number) =>
  `data:text/javascript,${
    encodeURIComponent(`const D = Date, by = ${hours * 3_600_000};
globalThis.Date = class Date extends D {
  constructor(...all) { if (all.length > 0) super(...all); else super(D.now() + by) }
  static now() { return D.now() + by }
}`)
  }`

const clocks = { fast: 1, slow: -1 }

const letter = { subject: "Hello", text: "Hello" }

/** Each mail takes seconds, and the first attempt at `defer…` is put off. */
const sink = SmtpSink.make({
  script: (to, attempt) =>
    to.startsWith("defer") && attempt === 0
      ? { at: "rcpt", reply: "450 4.2.1 try again later" }
      : to.startsWith("long")
      ? { at: "never", delayMillis: 3_000 }
      : undefined
})

const nodeWith = (clock: keyof typeof clocks, smtpPort: number) =>
  startNode({ smtpPort, env: { NODE_OPTIONS: `--import=${shift(clocks[clock])}` } })

layer(TestDatabase.layer, { excludeTestServices: true, timeout: "60 seconds" })(
  "nodes whose clocks are an hour wrong",
  (it) => {
    for (const clock of ["fast", "slow"] as const) {
      it.effect(`with a ${clock} clock mails and webhooks are repeated when the database's clock says so`, () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const relay = yield* sink
          const node = yield* nodeWith(clock, relay.port)
          const { accountId, key } = yield* makeAccount()
          const receiver = yield* makeWebhookReceiver({ script: [500, 200] })
          yield* create(node, key, { url: receiver.url, events: ["email.sent"] })

          const id = yield* sendEmail(node, key, { ...letter, to: `defer.${clock}@people.example` })
          const waiting = sql`select extract(epoch from due_at - now())::float8 as seconds from email_messages
            where account_id = ${accountId} and status = 'queued' and attempt_count = 1`
          const [row] = yield* eventually(waiting, (rows) => rows.length === 1)
          assert.isTrue(Number(row?.["seconds"]) > 0 && Number(row?.["seconds"]) <= 60, String(row?.["seconds"]))
          yield* sql`update email_messages set due_at = now() where id = ${id}`
          assert.strictEqual((yield* reaching(node, { id, key, statuses: ["sent"] }))["status"], "sent")

          const [first, second] = yield* receiver.received(2)
          const gap = (second?.arrivedAtMillis ?? 0) - (first?.arrivedAtMillis ?? 0)
          assert.isTrue(gap >= 5_000 && gap < 10_000, `${gap} ms`)

          const sms = yield* node.request("POST", "/v1/sms/send", { key, json: { to: "+250788123456", content: "Hi" } })
          yield* eventually(
            node.request("GET", `/v1/sms/messages/${String(sms.at("data", "message_id"))}`, { key }),
            ({ at }) => at("data", "status") === "delivered"
          )
          yield* node.stop()
        }))
    }

    it.effect("a fast and a slow node never send what the other one has claimed", () =>
      Effect.gen(function*() {
        const relay = yield* sink
        const nodes = [yield* nodeWith("fast", relay.port), yield* nodeWith("slow", relay.port)]
        const { key } = yield* makeAccount()
        const people = Array.from({ length: 12 }, (_, index) => `long.${index}@people.example`)
        for (const [index, node] of nodes.entries()) {
          for (const to of people.slice(6 * index, 6 * index + 6)) yield* sendEmail(node, key, { ...letter, to })
        }
        yield* relay.until(({ deliveries }) => people.every((to) => deliveries.has(to)))
        assert.deepStrictEqual(people.map((to) => relay.attempts.get(to)), people.map(() => 1))
      }))
  }
)

import { assert, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeCrypto from "node:crypto"
import { ended, sendBulk } from "../support/bulkMail.ts"
import { type Answer, eventually, makeAccount, type RunningNode, startNode } from "../support/Service.ts"
import { freshNumber } from "../support/sms.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { pairedSession, WhatsApp } from "../support/WhatsApp.ts"
import { unpaced } from "../support/whatsAppMessages.ts"
import { between, letter, listen, slowPeople } from "./FaultCluster.ts"
import { rounds } from "./inTime.ts"
import { type FaultName, faultNames, RefusingDatabase } from "./RefusingDatabase.ts"
import { type SinkMessage, sinkProcess } from "./SinkProcess.ts"
import { checkPhones, makePeople } from "./whatsAppPeople.ts"

/** Seconds that a fault lasts. */
const durations = rounds > 1 ? [1, 5, 20] : [1]

/** Faults of the whole server, which readiness reports. The others concern single statements. */
const outages: ReadonlyArray<FaultName> = ["read-only", "full disk", "out of memory", "too many connections"]

/** A node that sends through a sink and a simulated WhatsApp. */
class Stage extends Context.Service<Stage, {
  readonly node: RunningNode
  readonly messages: Effect.Effect<ReadonlyArray<SinkMessage>>
}>()("messaging-service/test/faults/refusals.test/Stage") {
  static readonly layer = Layer.effect(
    Stage,
    Effect.gen(function*() {
      const { env } = yield* WhatsApp
      const { messages, port } = yield* sinkProcess
      return Stage.of({ messages, node: yield* startNode({ smtpPort: port, env: { ...unpaced, ...env } }) })
    })
  ).pipe(
    Layer.provideMerge(TestDatabase.layerClient),
    Layer.provideMerge(WhatsApp.simulated),
    Layer.provideMerge(RefusingDatabase.layer)
  )
}

/** What requests were answered, and what the accepted ones promise. */
interface Ledger {
  readonly answers: Array<Answer>
  readonly emails: Array<string>
  readonly texts: Array<string>
}

/** Clients that send and read without a pause until they are interrupted. A 503 is not repeated. */
const load = Effect.fnUntraced(function*(
  node: RunningNode,
  ledger: Ledger,
  { key, name, phones, session }: {
    readonly key: string
    readonly name: string
    readonly phones: ReadonlyArray<string>
    readonly session: number
  }
) {
  let serial = 0
  // Large enough to need a new block of the disk.
  const text = NodeCrypto.randomBytes(16_000).toString("base64")
  const ask = (method: string, path: string, json?: unknown) =>
    Effect.tap(
      node.request(method, path, { key, json }),
      (answer) => Effect.sync(() => void ledger.answers.push(answer))
    )
  const email = Effect.gen(function*() {
    const to = `slow-${name}-${serial++}@people.example`
    const { status } = yield* ask("POST", "/v1/email/send", { to, subject: "s", text })
    if (status === 202) ledger.emails.push(to)
  })
  const sms = ask("POST", "/v1/sms/send", { to: freshNumber(), content: "Hello" })
  const message = Effect.gen(function*() {
    const content = `${name}-${serial++}`
    const to = phones[ledger.texts.length % phones.length]
    const { status } = yield* ask("POST", "/v1/whatsapp/send", { session_id: session, to, content })
    if (status === 202) ledger.texts.push(content)
  })
  const read = ask("GET", "/v1/email/messages?per_page=1")
  yield* Effect.forEach(
    [email, sms, message, read],
    (client) => Effect.forever(Effect.andThen(client, Effect.sleep("25 millis"))),
    { concurrency: "unbounded" }
  )
})

/** Rows of the account that an actor or a sender still has to finish. */
const unfinished = (accountId: number, webhookId: number) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql`select
      (select count(*) from email_messages where account_id = ${accountId} and status in ('queued', 'sending')) as mails,
      (select count(*) from messages where account_id = ${accountId} and status = 'queued') as messages,
      (select count(*) from sms_parts p join messages m on m.id = p.message_id
        where m.account_id = ${accountId} and p.status in ('queued', 'sending')) as parts,
      (select count(*) from whatsapp_outbox o join messages m on m.id = o.message_id
        where m.account_id = ${accountId} and o.status in ('queued', 'written')) as outbox,
      (select count(*) from webhook_queue where webhook_id = ${webhookId}) as deliveries,
      (select count(*) from events e where account_id = ${accountId} and not exists (
        select from webhook_deliveries d where d.event_id = e.id and d.status = 'delivered')) as events`)

const isFinished = ([row]: ReadonlyArray<Record<string, unknown>>) =>
  Object.values(row ?? { none: 1 }).every((count) => Number(count) === 0)

const options = { excludeTestServices: true } as const

layer(Stage.layer, options)("a database that says no", (it) => {
  for (const fault of faultNames) {
    for (const seconds of durations) {
      it.effect(
        `${fault} for ${seconds} s: requests get 503, and everything accepted is sent and recorded`,
        () =>
          Effect.gen(function*() {
            const { messages, node } = yield* Stage
            const { begin, end } = (yield* RefusingDatabase).faults[fault]
            const { accountId, key } = yield* makeAccount()
            const name = `${fault.replaceAll(" ", "-")}-${seconds}`
            const receiver = yield* makeWebhookReceiver({
              script: () => ({ status: 200, afterMillis: between(5, 20) })
            })
            const hook = yield* listen(node, key, { url: receiver.url, events: ["*"] })
            const session = yield* pairedSession(node, key)
            const phones = yield* makePeople
            const bulk = slowPeople(100, `bulk-${name}`)
            const ledger: Ledger = { answers: [], emails: [...bulk], texts: [] }
            const batch = yield* sendBulk(node, key, letter(bulk))
            const clients = yield* Effect.forkChild(load(node, ledger, { key, name, phones, session: session.id }))
            const ready = node.request("GET", "/health/ready")
            yield* Effect.sleep("300 millis")

            yield* begin
            const probes = yield* Effect.forkChild(
              Effect.forEach(
                Array.from({ length: seconds * 5 }),
                () => Effect.andThen(Effect.sleep("200 millis"), ready)
              )
            )
            const seen = yield* Fiber.join(probes)
            // A disk is full for a node once a table needs a new block, which a slow one needs later.
            if (outages.includes(fault)) yield* eventually(ready, ({ status }) => status === 503, longer.turn)
            yield* end
            yield* eventually(ready, ({ status }) => status === 200, longer.takeover)
            const healthy = ledger.answers.length
            yield* eventually(Effect.sync(() => ledger.answers.length), (count) => count > healthy + 20, longer.turn)
            yield* Fiber.interrupt(clients)

            const refused = ledger.answers.filter(({ status }) => status >= 300)
            const kinds = new Set(refused.map(({ at, status }) => `${status} ${String(at("error", "type"))}`))
            // A connection to WhatsApp ends when its keys cannot be stored.
            kinds.delete("409 session_not_connected")
            assert.deepStrictEqual([...kinds], ["503 service_unavailable"])
            for (const { headers, status } of refused) {
              if (status === 503) assert.match(headers["retry-after"] ?? "", /^\d+$/)
            }
            const unready = seen.filter(({ status }) => status === 503).length
            if (fault === "full disk") {
              const said = node.logs.filter((line) => line.includes("PostgreSQL fails requests"))
              assert.isTrue(
                said.some((line) => line.includes("Free space on the disk of the database")),
                said.join("\n")
              )
            }

            const { at } = yield* ended(node, key, batch)
            assert.deepInclude(at("data"), { status: "completed", total: bulk.length, sent: bulk.length, queued: 0 })
            yield* eventually(unfinished(accountId, hook.id), isFinished, longer.takeover)
            const copies = Map.groupBy((yield* messages).flatMap(({ to }) => to), (to) => to)
            assert.deepStrictEqual(ledger.emails.filter((to) => !copies.has(to)), [], "recipients were lost")
            yield* checkPhones(phones, { from: session.number, texts: ledger.texts })
            const twice = ledger.emails.filter((to) => (copies.get(to)?.length ?? 0) > 1).length
            const events = new Set(receiver.requests.map(({ headers }) => headers["webhook-id"])).size
            yield* Effect.log(
              `${ledger.emails.length} mails, ${ledger.texts.length} messages, ${events} events; ${refused.length} of ${ledger.answers.length} refused, `
                + `${unready} of ${seen.length} times unready; ${twice} mails and ${
                  receiver.requests.length - events
                } events twice`
            )
            if (seconds === 1 && fault !== "too many connections") assert.strictEqual(twice, 0)
          })
      )
    }
  }

  it.effect(
    "a node leaves a server that stays read-only, as after a failover",
    () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { node } = yield* Stage
        const { readOnlySessions } = yield* RefusingDatabase
        const { key } = yield* makeAccount()
        const ready = node.request("GET", "/health/ready")
        const sessions =
          sql`select pid from pg_stat_activity where application_name like 'messaging-service%' order by pid`
        yield* readOnlySessions(true)
        yield* eventually(
          Effect.all([sessions, ready]),
          ([open, { status }]) => status === 503 && open.length >= 3,
          longer.turn
        )
        const before = yield* sessions
        yield* readOnlySessions(false)
        yield* eventually(
          sessions,
          (open) => before.every(({ pid }) => open.every((session) => session["pid"] !== pid)),
          longer.takeover
        )
        yield* eventually(ready, ({ status }) => status === 200, longer.turn)
        const answer = yield* node.request("POST", "/v1/api-keys", { key, json: { name: "Back" } })
        assert.strictEqual(answer.status, 201)
      })
  )
})

import { assert, layer } from "@effect/vitest"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { prune } from "../../src/app/server/Pruning.ts"
import { AppConfig } from "../../src/platform/config/AppConfig.ts"
import { assertRefused } from "../contract/contract.ts"
import { eventually, makeAccount, makeKey, Service, startNode } from "../support/Service.ts"
import { freshNumber } from "../support/sms.ts"
import * as SmtpSink from "../support/SmtpSink.ts"
import { TestDatabase, transaction } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { createSession, pairedSession, storedOf, WhatsApp } from "../support/WhatsApp.ts"

const password = "correct horse battery"

/** Part of every name, address and text of the account, and of nothing else. */
const mark = "zebrafinch"

/** Ids of the account whose rows the test looks for. */
interface Traces {
  readonly accountId: number
  readonly webhookId?: number
  readonly sessionId?: number
}

/** Tables that still have a row of the account: by its id, its webhook's or session's id, or the mark. */
const remains = Effect.fnUntraced(function*({ accountId, sessionId = 0, webhookId = 0 }: Traces) {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql`select t.table_name as name, array(select c.column_name::text
      from information_schema.columns c where c.table_schema = 'public' and c.table_name = t.table_name) as columns
    from information_schema.tables t where t.table_schema = 'public' and t.table_type = 'BASE TABLE'`
  const found: Array<string> = []
  for (const { columns, name } of tables) {
    const has = (column: string) => Array.isArray(columns) && columns.includes(column)
    const rows = yield* sql.unsafe(
      `select from "${String(name)}" r where r::text ilike $1 or r::text ilike $2
        ${
        has("account_id")
          ? `or account_id in (${accountId}, ${-accountId})`
          : name === "accounts"
          ? `or id = ${accountId}`
          : ""
      }
        ${has("webhook_id") ? `or webhook_id = ${webhookId}` : ""}
        ${has("session_id") ? `or session_id = ${sessionId}` : ""} limit 1`,
      [`%${mark}%`, `%${Buffer.from(mark).toString("hex")}%`]
    )
    if (rows.length > 0) found.push(String(name).replace(/_\d{8}$/, ""))
  }
  return { tables: tables.length, found: [...new Set(found)].toSorted() }
})

/** Uses every feature, so that every domain has data to erase. */
const useEveryFeature = Effect.fnUntraced(function*(hook: string) {
  const { request } = yield* Service
  const email = `${mark}@example.com`
  const { accountId, key } = yield* makeAccount({ email, password })
  const post = (path: string, json: unknown) =>
    Effect.tap(
      request("POST", path, { key, json, headers: { "idempotency-key": `${mark}-${path}` } }),
      ({ status, text }) => Effect.sync(() => assert.isBelow(status, 300, `${path}: ${text}`))
    )
  const session = String((yield* request("POST", "/v1/auth/login", { json: { email, password } })).at("data", "token"))
  yield* request("POST", "/v1/auth/password/forgot", { json: { email } })
  yield* request("PUT", "/v1/account/profile", { key, json: { email: `${mark}-new@example.com` } })
  const sql = yield* SqlClient.SqlClient
  yield* eventually(sql`select from password_resets where account_id = ${accountId}`, (rows) => rows.length === 1)
  const other = String((yield* post("/v1/api-keys", { name: mark })).at("data", "key"))
  const webhook = yield* post("/v1/webhooks", { url: `${hook}?${mark}`, events: ["*"] })
  const template = yield* post("/v1/email/templates", { name: mark, subject: mark, html: mark })
  yield* request("PUT", `/v1/email/templates/${String(template.at("data", "id"))}`, { key, json: { subject: "New" } })
  yield* post("/v1/email/domains", { domain: `${mark}.example` })
  yield* post("/v1/email/suppressions", { email: `${mark}-no@example.com` })
  yield* post("/v1/email/send", { to: `${mark}-1@example.com`, subject: mark, text: mark, html: mark })
  yield* post("/v1/email/send-bulk", {
    recipients: [`${mark}-2@example.com`, `${mark}-3@example.com`],
    subject: mark,
    html: mark
  })
  yield* request("PUT", "/v1/sandbox/receiver", { key, json: { failing: true } })
  const { key: test } = yield* makeKey(accountId, { mode: "test" })
  yield* request("POST", "/v1/sandbox/faults", { key: test, json: { fault: "sms_lost" } })
  return { accountId, email, key, other, session, webhookId: Number(webhook.at("data", "id")) }
})

const history = (accountId: number) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql`select count(*)::integer as n from webhook_deliveries d
      join webhooks w on w.id = d.webhook_id where w.account_id = ${accountId}`)

/** Moves the deletion into the past. */
const ageDeletion = Effect.fnUntraced(function*(interval: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`update removed_webhooks set removed_at = now() - ${interval}::interval`
  yield* sql`update account_erasures set requested_at = now() - ${interval}::interval, next_at = now()`
})

/** With an SMTP sink as the relay: the sandbox's inbox would keep the account's mails. */
const Node = Layer.effect(
  Service,
  Effect.flatMap(SmtpSink.make(), ({ port }) => startNode({ smtpPort: port }))
).pipe(Layer.provideMerge(AppConfig.layer), Layer.provideMerge(TestDatabase.layer))

layer(Node)("account deletion", (it) => {
  it.effect(
    "access ends at once, and within minutes only hashes of the account's keys are left in any table",
    () =>
      Effect.gen(function*() {
        const { logged, request } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const receiver = yield* makeWebhookReceiver()
        const { email, key, other, session, ...traces } = yield* useEveryFeature(receiver.url)
        const { accountId } = traces
        const neighbour = yield* makeAccount()
        const mine = { to: "n@example.com", subject: "s", text: "t" }
        const sent = yield* request("POST", "/v1/email/send", { key: neighbour.key, json: mine })
        yield* eventually(history(accountId), ([row]) => Number(row?.["n"]) >= 3, longer.turn)
        const before = yield* remains(traces)
        assert.isAbove(before.tables, 25)
        for (
          const table of [
            "accounts",
            "api_keys",
            "audit_entries",
            "email_batches",
            "email_changes",
            "email_contents",
            "email_domains",
            "email_messages",
            "email_template_versions",
            "email_templates",
            "events",
            "idempotency_records",
            "login_sessions",
            "notices",
            "password_resets",
            "sandbox_faults",
            "sandbox_receivers",
            "suppressions",
            "usage_daily",
            "webhook_deliveries",
            "webhooks"
          ]
        ) assert.include(before.found, table)

        const remove = (confirmation: string) =>
          request("DELETE", "/v1/account", { key: session, json: { confirmation } })
        for (const word of ["delete", "Delete", "DELETE ", "", "yes"]) {
          assertRefused(yield* remove(word), 422, "validation_error")
        }
        assertRefused(yield* request("DELETE", "/v1/account", { key, json: {} }), 422, "validation_error")
        const removed = yield* remove("DELETE")
        assert.deepInclude(removed.json, { success: true, data: null })
        const { annotations } = JSON.parse(yield* logged("account deleted"))
        assert.deepInclude(annotations, { account_id: accountId, client_address: "127.0.0.1" })
        assert.match(annotations.actor, /^session \d+$/)

        for (const credential of [key, other]) {
          assertRefused(yield* request("GET", "/v1/account", { key: credential }), 401, "revoked_api_key")
        }
        assertRefused(yield* request("GET", "/v1/account", { key: session }), 401, "invalid_api_key")
        assertRefused(
          yield* request("POST", "/v1/auth/login", { json: { email, password } }),
          401,
          "invalid_credentials"
        )
        const again = yield* request("POST", "/v1/auth/register", { json: { name: "New", email, password } })
        assert.strictEqual(again.status, 201)
        yield* sql`update accounts set email = 'new@example.com' where id = ${
          Number(again.at("data", "account", "id"))
        }`

        const bare = ["account_erasures", "accounts", "removed_webhooks"]
        yield* eventually(remains(traces), ({ found }) => found.every((table) => bare.includes(table)), longer.turn)
        const [row] = yield* sql`select name, email, password_hash from accounts where id = ${accountId}`
        assert.deepStrictEqual({ ...row }, {
          name: "",
          email: `deleted account ${accountId}`,
          password_hash: null
        })

        yield* ageDeletion("16 minutes")
        yield* eventually(remains(traces), ({ found }) => found.length === 0, longer.turn)
        const hashes = sql`select from revoked_api_keys`
        assert.strictEqual((yield* hashes).length, 3)
        yield* prune
        assert.strictEqual((yield* hashes).length, 3)
        yield* sql`update revoked_api_keys set revoked_at = now() - interval '31 days'`
        yield* prune
        assert.strictEqual((yield* hashes).length, 0)

        const kept = yield* request("GET", `/v1/email/messages/${String(sent.at("data", "id"))}`, {
          key: neighbour.key
        })
        assert.strictEqual(kept.status, 200)
      })
  )

  it.effect("no stranger's address keeps an account from being deleted", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId, key } = yield* makeAccount()
      yield* makeKey(accountId, { mode: "test" })
      yield* makeAccount({ email: `account-${accountId}@deleted.invalid` })
      yield* makeAccount({ email: `account-${-accountId}@deleted.invalid` })
      const removed = yield* request("DELETE", "/v1/account", { key, json: { confirmation: "DELETE" } })
      assert.strictEqual(removed.status, 200, removed.text)
    }))

  it.effect("another node finishes the erasure when the nodes that began it are killed", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const first = yield* Service
      const { accountId, key } = yield* makeAccount()
      yield* sql`insert into email_messages (account_id, recipient, status, subject, from_address)
        select ${accountId}::bigint, 'many@example.com', 'sent', 's', 'us@example.com' from generate_series(1, 200000)`
      const second = yield* startNode()
      const left = Effect.map(
        sql`select count(*)::integer as n from email_messages where account_id = ${accountId}`,
        ([row]) => Number(row?.["n"])
      )
      yield* second.request("DELETE", "/v1/account", { key, json: { confirmation: "DELETE" } })
      yield* transaction(Effect.gen(function*() {
        // The erasure waits here at the latest.
        yield* sql`select from email_messages where account_id = ${accountId} order by id desc limit 1 for update`
        yield* eventually(left, (count) => count < 200_000, longer.load)
        yield* Effect.all([first.kill, second.kill], { concurrency: "unbounded" })
        assert.isAbove(yield* left, 0)
      }))
      yield* startNode()
      yield* ageDeletion("16 minutes")
      yield* eventually(remains({ accountId }), ({ found }) => found.length === 0, longer.load)
    }))
})

/** A slow SMTP relay. */
class SlowRelay extends Context.Service<SlowRelay, SmtpSink.SmtpSink>()(
  "messaging-service/test/journeys/accountRemoval.test/SlowRelay"
) {}

const Busy = Layer.effect(
  Service,
  Effect.gen(function*() {
    const { env } = yield* WhatsApp
    const { port } = yield* SlowRelay
    return yield* startNode({ smtpPort: port, env: { ...env, SMTP_CONNECTIONS: "2" } })
  })
).pipe(
  Layer.provideMerge(Layer.effect(SlowRelay, SmtpSink.make({ script: () => ({ at: "never", delayMillis: 100 }) }))),
  Layer.provideMerge(WhatsApp.simulated),
  Layer.provideMerge(TestDatabase.layer)
)

layer(Busy, { excludeTestServices: true })("deletion of a busy account", (it) => {
  it.effect("deletion during a batch, a webhook backlog and a WhatsApp session leaves no data here or on the phone", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const sink = yield* SlowRelay
      const { simulator } = yield* WhatsApp
      const receiver = yield* makeWebhookReceiver({ script: ["hang"] })
      const { accountId, key } = yield* makeAccount({ email: `${mark}@example.com` })
      const post = (path: string, json: unknown) => node.request("POST", path, { key, json })
      const hook = yield* post("/v1/webhooks", { url: `${receiver.url}/?${mark}`, events: ["*"] })
      const { device, id, number } = yield* pairedSession(node, key)
      simulator.controls.createPhone("15550300001", mark)
      yield* Effect.promise(() => simulator.controls.sendText("15550300001", number, { text: mark }))
      // The QR code of a session that was never scanned goes with the account as well.
      const waiting = yield* createSession(node, key, mark)
      const image = { base64: Buffer.from(`\u0089PNG ${mark}`, "latin1").toString("base64"), mime_type: "image/png" }
      const file = { session_id: id, to: "15550300001", type: "image", content: { ...image, caption: mark } }
      const sent = yield* post("/v1/whatsapp/send", file)
      assert.strictEqual(sent.status, 202, sent.text)
      const recipients = Array.from({ length: 400 }, (_, index) => `${mark}-${index}@example.com`)
      yield* post("/v1/email/send-bulk", { recipients, subject: mark, html: mark })
      yield* post("/v1/verify/send", { to: `${mark}-code@example.com`, channel: "email" })
      yield* post("/v1/verify/send", { to: freshNumber() })
      yield* sink.until(({ messages }) => messages.length > 20)
      yield* receiver.received(1)
      const traces = { accountId, sessionId: id, webhookId: Number(hook.at("data", "id")) }
      const before = (yield* remains(traces)).found
      for (
        const table of [
          "email_batches",
          "messages",
          "verification_sends",
          "verifications",
          "webhook_queue",
          "whatsapp_keys",
          "whatsapp_sessions"
        ]
      ) assert.include(before, table)

      // The parts reference only their message, and no other account has parts in this test.
      const parts = sql`select from sms_parts`
      assert.isAbove((yield* parts).length, 0)
      const removed = yield* node.request("DELETE", "/v1/account", { key, json: { confirmation: "DELETE" } })
      assert.strictEqual(removed.status, 200, removed.text)
      const taken = sink.messages.length
      yield* eventually(
        Effect.sync(() => simulator.controls.sessions()),
        (sessions) => !sessions.some(({ session }) => session === device),
        longer.turn
      )
      yield* eventually(
        Effect.all([storedOf(id), storedOf(waiting.id)]),
        (stored) => stored.every(({ keys, rows }) => keys + rows === 0),
        longer.turn
      )
      yield* ageDeletion("16 minutes")
      yield* eventually(remains(traces), ({ found }) => found.length === 0, longer.turn)
      assert.strictEqual((yield* parts).length, 0)
      // Only mails already claimed when the deletion arrived may still go out.
      assert.isBelow(sink.messages.length - taken, 60)
    }))
})

layer(Service.layer({ env: { PAUSED: "true" } }), { excludeTestServices: true })("deletion while SMS wait", (it) => {
  it.effect("no SMS of the account waits to be submitted once it is deleted, and those of others still do", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const sends = Effect.fnUntraced(function*() {
        const { accountId, key } = yield* makeAccount()
        const tested = yield* makeKey(accountId, { mode: "test" })
        const single = { to: freshNumber(), content: mark.repeat(40) }
        const send_at = DateTime.formatIso(DateTime.addDuration(yield* DateTime.now, "1 hour"))
        const bulk = { recipients: [freshNumber(), freshNumber()], content: mark }
        const sent = yield* Effect.all([
          request("POST", "/v1/sms/send", { key, json: single }),
          request("POST", "/v1/sms/send", { key, json: { ...single, send_at } }),
          request("POST", "/v1/sms/send-bulk", { key, json: bulk }),
          request("POST", "/v1/verify/send", { key, json: { to: freshNumber() } }),
          request("POST", "/v1/sms/send", { key: tested.key, json: single })
        ])
        for (const { status, text } of sent) assert.isBelow(status, 300, text)
        return { accountId, key }
      })
      const neighbour = yield* sends()
      const { accountId, key } = yield* sends()
      const waiting = (id: number) =>
        sql`select from sms_parts where status = 'queued' and account_id in (${id}::bigint, ${-id}::bigint)`
      const before = (yield* waiting(accountId)).length
      assert.isAbove(before, 7)
      yield* request("DELETE", "/v1/account", { key, json: { confirmation: "DELETE" } })
      assert.strictEqual((yield* waiting(accountId)).length, 0)
      assert.strictEqual((yield* waiting(neighbour.accountId)).length, before)
    }))
})

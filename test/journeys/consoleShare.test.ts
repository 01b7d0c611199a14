/** What people look at in the console takes few of the connections that requests of the API need. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeNet from "node:net"
import { newDataKey } from "../../src/channels/whatsapp/credentials/DataKey.ts"
import { livePause } from "../../src/console/ui/layout.ts"
import { rateLimitSettings } from "../../src/platform/config/rateLimitSettings.ts"
import { Vault } from "../../src/platform/crypto/Vault.ts"
import { WhatsAppSessionId } from "../../src/values/Ids.ts"
import { mainKey } from "../support/bulkMail.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { formsOf, plainBrowser, type PlainForm } from "../support/plainForms.ts"
import { makeRawServer } from "../support/RawServer.ts"
import { earlyInTheMinute, eventually, makeAccount, Service } from "../support/Service.ts"
import { longer } from "../support/waiting.ts"

const env = { DATABASE_CONNECTIONS: "10", STATEMENT_TIMEOUT_SECONDS: "120", RATE_LIMIT_PAGES: undefined }

/** A node whose WhatsApp never says a word, so that no session gets a code. */
const Node = Layer.unwrap(
  Effect.map(
    makeRawServer(() => {}),
    ({ url }) => Service.layer({ env: { ...env, WHATSAPP_URL: url.replace("http", "ws") } })
  )
)

/** How many pages an open page loads in a minute. */
const loads = 60 / livePause

layer(Node, { excludeTestServices: true })("many slow pages", (it) => {
  /** A session that waits for a phone. */
  const pendingSession = Effect.fnUntraced(function*(accountId: number) {
    const sql = yield* SqlClient.SqlClient
    const [next] = yield* sql`select nextval(pg_get_serial_sequence('whatsapp_sessions', 'id')) as id`
    const id = WhatsAppSessionId.make(Number(next?.["id"]))
    yield* sql`insert into whatsapp_sessions
        (id, account_id, session_key, name, data_key, is_paired, status, is_confirmed)
      overriding system value values (${id}, ${accountId}, ${`wa_${id}`}, 'Test', ${newDataKey(yield* Vault, id)},
        false, 'pending', true)`
    return id
  }, Effect.provide(Vault.layer(mainKey)))

  it.effect("tabs that wait for a code to scan, with and without a sign-in, leave other pages able to read", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId, key } = yield* makeAccount()
      const { cookie } = yield* signedInAs(accountId, "owner")
      const id = yield* pendingSession(accountId)
      const link = yield* request("POST", `/v1/whatsapp/sessions/${id}/pairing-link`, { key })
      const own = `/console/${accountId}/whatsapp/${id}`
      const pairing = URL.parse(String(link.at("data", "url")))?.pathname ?? ""
      const open = (path: string) => request("GET", path, { headers: { cookie } })
      assert.strictEqual((yield* open(`/console/${accountId}/keys`)).status, 200)
      let answered = 0
      const load = (path: string) =>
        Effect.tap(open(path), ({ text }) =>
          Effect.sync(() => {
            assert.include(text, "WhatsApp has sent no code yet.")
            answered++
          }))
      const tabs = Array.from({ length: 12 }, (_, i) => i % 2 === 0 ? own : pairing)
      yield* Effect.forkChild(
        Effect.forEach(tabs, (path) => Effect.forever(load(path)), { concurrency: "unbounded" })
      )
      yield* eventually(Effect.sync(() => answered), (count) => count >= tabs.length, longer.load)
      // Each tab waits for four seconds. In two places they would take 24, and another page would wait for most of them.
      const overtaken = Effect.gen(function*() {
        const before = answered
        assert.strictEqual((yield* open(`/console/${accountId}/keys`)).status, 200)
        return answered - before
      })
      yield* eventually(overtaken, (count) => count < tabs.length / 2, longer.load)
    }))

  it.effect("a sign-in gets 429 above the pages of a minute, of which ten open windows reach no more than the last", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const limit = Number(rateLimitSettings.rateLimitPages.fallback)
      assert.isAtMost(10 * loads, limit)
      const { accountId } = yield* makeAccount()
      const [person, other] = [yield* signedInAs(accountId, "owner"), yield* signedInAs(accountId, "owner")]
      const open = ({ cookie }: typeof person) => request("GET", "/console/me", { headers: { cookie } })
      yield* earlyInTheMinute
      // Nine other windows have had their pages.
      yield* sql`insert into rate_windows (bucket, starts_at, used)
        select 'pages:' || id, date_trunc('minute', now()), ${limit - loads}
        from login_sessions where person_id = ${person.personId}`
      for (let load = 0; load < loads; load++) assert.strictEqual((yield* open(person)).status, 200)
      const { headers, status, text } = yield* open(person)
      assert.strictEqual(status, 429)
      assert.include(text, "<h1>Too many requests</h1>")
      assert.isAtLeast(Number(headers["retry-after"]), 1)
      assert.strictEqual((yield* open(other)).status, 200)
    }))

  it.effect("the command of a form counts as a page, and a refusal keeps what was typed, which can still be sent", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount()
      const { cookie, personId } = yield* signedInAs(accountId, "owner")
      const { open, send } = plainBrowser(cookie)
      yield* earlyInTheMinute
      // Two pages are left: the form, and its first command.
      yield* sql`insert into rate_windows (bucket, starts_at, used)
        select 'pages:' || id, date_trunc('minute', now()), ${Number(rateLimitSettings.rateLimitPages.fallback) - 2}
        from login_sessions where person_id = ${personId}`
      const path = `/console/${accountId}/suppressions/new`
      const form = formsOf(path, (yield* open(path)).text).find(({ name }) => name === "add") ?? assert.fail()
      const asking: PlainForm = { ...form, fields: [...form.fields, ["_instead", "command"]] }
      const typed = { email: "ada@example.com" }
      const first = yield* send(asking, typed)
      assert.strictEqual(first.status, 200)
      assert.include(first.text, "id=\"command\"")
      const { headers, status, text } = yield* send(asking, typed)
      assert.strictEqual(status, 429)
      assert.isAtLeast(Number(headers["retry-after"]), 1)
      assert.include(text, "Too many requests")
      assert.notInclude(text, "id=\"command\"")
      assert.include(text, "value=\"ada@example.com\"")
      yield* send(form, typed)
      const [row] = yield* sql`select email from suppressions where account_id = ${accountId}`
      assert.deepStrictEqual(row, { email: "ada@example.com" })
    }))

  it.effect(
    "a hundred pages and files that wait for a slow table leave the API able to send and to list",
    () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount()
        const { cookie } = yield* signedInAs(accountId, "owner")
        const open = (path: string) => request("GET", `/console/${accountId}${path}`, { headers: { cookie } })
        assert.strictEqual((yield* open("/messages")).status, 200)
        // A transaction sees the activity of its first look, unless it forgets it.
        const waiting = Effect.andThen(
          sql`select pg_stat_clear_snapshot()`,
          sql<{ pages: number }>`select count(*)::integer as pages from pg_stat_activity
            where wait_event_type = 'Lock' and (query like '%as batch_subject%' or query like '%as newest%')`
        )
        const pages = yield* sql.withTransaction(Effect.gen(function*() {
          yield* sql`lock table email_messages in access exclusive mode`
          const pages = yield* Effect.forkDetach(
            Effect.forEach(
              Array.from({ length: 100 }, (_, i) => i % 2),
              (isFile) => open(isFile === 1 ? "/messages?format=csv" : "/messages"),
              { concurrency: "unbounded" }
            )
          )
          yield* eventually(waiting, ([row]) => Number(row?.pages) >= 2, longer.load)
          for (let round = 0; round < 5; round++) {
            const json = { to: "+250788123456", content: "Hello" }
            assert.strictEqual((yield* request("POST", "/v1/sms/send", { key, json })).status, 202)
            assert.strictEqual((yield* request("GET", "/v1/sms/messages", { key })).status, 200)
          }
          const [row] = yield* waiting
          assert.strictEqual(Number(row?.pages), 2)
          return pages
        }))
        for (const { status } of yield* Fiber.join(pages)) assert.strictEqual(status, 200)
      })
  )
})

const MiB = 1024 * 1024

/** A large form of which the node has read the first byte. The scope closes its connection. */
const openForm = (port: number, path: string, cookie: string) =>
  Effect.acquireRelease(
    Effect.callback<NodeNet.Socket>((resume) => {
      const socket = NodeNet.connect({ port, host: "127.0.0.1" })
      socket.on("error", () => {})
      const type = "Content-Type: application/x-www-form-urlencoded"
      const head = [`POST ${path} HTTP/1.1`, "Host: localhost", `Cookie: ${cookie}`, type, `Content-Length: ${8 * MiB}`]
      socket.write([...head, "", "a"].join("\r\n"), () => resume(Effect.succeed(socket)))
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

layer(Service.layer({ env: { NODE_OPTIONS: "--max-old-space-size=256" } }), { excludeTestServices: true })(
  "large forms",
  (it) => {
    const type = { "content-type": "application/x-www-form-urlencoded" }

    it.effect("beyond the memory of their account get 503, while small ones and those of others go on", () =>
      Effect.gen(function*() {
        const { port, request } = yield* Service
        const mine = yield* makeAccount()
        const { cookie } = yield* signedInAs(mine.accountId, "owner")
        const other = yield* makeAccount()
        const { cookie: theirs } = yield* signedInAs(other.accountId, "owner")
        const post = (accountId: number, as: string, size: number) =>
          request("POST", `/console/${accountId}/suppressions/new`, {
            headers: { ...type, cookie: as },
            body: "a".repeat(size)
          })
        yield* Effect.scoped(Effect.gen(function*() {
          yield* openForm(port, `/console/${mine.accountId}/suppressions/new`, cookie)
          const refused = yield* eventually(post(mine.accountId, cookie, 7 * MiB), ({ status }) => status === 503)
          assert.isDefined(refused.headers["retry-after"])
          // No form of the page has this name.
          assert.strictEqual((yield* post(mine.accountId, cookie, 10_000)).status, 404)
          assert.strictEqual((yield* post(other.accountId, theirs, 7 * MiB)).status, 404)
        }))
        yield* eventually(post(mine.accountId, cookie, 7 * MiB), ({ status }) => status === 404)
      }))

    it.effect("do not wait for the memory that they hold themselves", () =>
      Effect.gen(function*() {
        const { accountId } = yield* makeAccount()
        const { cookie } = yield* signedInAs(accountId, "owner")
        const { open, send } = plainBrowser(cookie)
        const path = `/console/${accountId}/send?channel=email`
        const form = formsOf(path, (yield* open(path)).text).find(({ name }) => name === "email") ?? assert.fail()
        const answer = yield* send(form, { to: "ada@example.com", subject: "Hello", text: "x".repeat(6 * MiB) })
        assert.strictEqual(answer.status, 422)
      }))

    it.effect("outside an account are refused above 64 KiB", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { accountId } = yield* makeAccount()
        const { cookie } = yield* signedInAs(accountId, "owner")
        for (const path of ["/console/sign-in", "/console/sign-out", "/console/me"]) {
          const post = (size: number) => request("POST", path, { headers: { ...type, cookie }, body: "a".repeat(size) })
          assert.strictEqual((yield* post(64 * 1024 + 1)).status, 413, path)
          assert.strictEqual((yield* post(64 * 1024)).status, 404, path)
        }
      }))
  }
)

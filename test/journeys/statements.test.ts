import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../src/values/Ids.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { makeDatabaseProxy } from "../support/DatabaseProxy.ts"
import { makeAccount, type RequestOptions, startNode } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const repetitions = 40

interface Case {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly options?: (index: number) => RequestOptions
  /** Statements of a request, without begin and commit. */
  readonly statements: number
  /** Explicit transactions. A single statement commits by itself. */
  readonly transactions: number
}

const template = (index: number): RequestOptions => ({
  json: { name: `Receipt ${index}`, subject: "Hello {{name}}", html: "<p>{{name}}</p>" }
})

const mail = (index: number): RequestOptions => ({
  json: { to: `a${index + 1}@people.example`, subject: "Hello", text: "Hello" }
})

const bulkMail = (index: number): RequestOptions => ({
  json: { recipients: [`b${index + 1}@people.example`], subject: "Hello", text: "Hello" }
})

const sms = (): RequestOptions => ({ json: { to: "+250788123456", content: "Hello" } })

const bulkSms = (): RequestOptions => ({ json: { recipients: ["+250788123456"], content: "Hello" } })

const code = (index: number): RequestOptions => ({
  json: { to: `c${index + 1}@people.example`, channel: "email" }
})

const guess = (index: number): RequestOptions => ({
  json: { to: `c${index + 1}@people.example`, code: "00000000" }
})

const whatsApp = (session: number) => (): RequestOptions => ({
  json: { session_id: session, to: "+250788123456", type: "text", content: { body: "Hello" } }
})

const bulkWhatsApp = (session: number) => (): RequestOptions => ({
  json: { session_id: session, recipients: ["+250788123456"], type: "text", content: { body: "Hello" } }
})

const once = (options: (index: number) => RequestOptions, name: string) => (index: number): RequestOptions => ({
  ...options(index),
  headers: { "idempotency-key": `${name}-${index}` }
})

/** Messages and a webhook of an account and the cookie of its owner, for the pages of the console. */
interface Shown {
  readonly base: string
  readonly cookie: string
  readonly webhook: number
  readonly email: number
  readonly sms: number
}

const page = ({ base, cookie }: Shown, path: string, statements: number, transactions = 0): Case => ({
  method: "GET",
  path: `${base}${path}`,
  options: () => ({ headers: { cookie } }),
  statements,
  transactions
})

/**
 * The key, or the sign-in, is one statement. The limit costs one for many requests. The node is paused, so no sender
 * adds statements.
 */
const casesWith = (session: number, shown: Shown): Readonly<Record<string, Case>> => ({
  "GET /health/live": { method: "GET", path: "/health/live", statements: 0, transactions: 0 },
  "GET /v1/sms/pricing": { method: "GET", path: "/v1/sms/pricing", statements: 0, transactions: 0 },
  "GET /v1/api-keys": { method: "GET", path: "/v1/api-keys", statements: 2, transactions: 0 },
  "GET /v1/account": { method: "GET", path: "/v1/account", statements: 2, transactions: 0 },
  "GET /v1/email/templates": { method: "GET", path: "/v1/email/templates", statements: 3, transactions: 0 },
  "GET /v1/webhooks": { method: "GET", path: "/v1/webhooks", statements: 3, transactions: 0 },
  "GET /v1/email/domains": { method: "GET", path: "/v1/email/domains", statements: 2, transactions: 0 },
  "POST /v1/email/templates": {
    method: "POST",
    path: "/v1/email/templates",
    options: template,
    statements: 2,
    transactions: 0
  },
  "POST /v1/email/templates with an Idempotency-Key": {
    method: "POST",
    path: "/v1/email/templates",
    options: once(template, "template"),
    statements: 5,
    transactions: 1
  },
  "POST /v1/api-keys": {
    method: "POST",
    path: "/v1/api-keys",
    options: () => ({ json: { name: "Another" } }),
    statements: 4,
    transactions: 1
  },
  "POST /v1/email/send": { method: "POST", path: "/v1/email/send", options: mail, statements: 4, transactions: 1 },
  "POST /v1/email/send-bulk": {
    method: "POST",
    path: "/v1/email/send-bulk",
    options: bulkMail,
    statements: 4,
    transactions: 1
  },
  "POST /v1/sms/send": { method: "POST", path: "/v1/sms/send", options: sms, statements: 4, transactions: 1 },
  "POST /v1/sms/send-bulk": {
    method: "POST",
    path: "/v1/sms/send-bulk",
    options: bulkSms,
    statements: 5,
    transactions: 1
  },
  "GET /v1/email/messages": { method: "GET", path: "/v1/email/messages", statements: 3, transactions: 0 },
  "GET /v1/sms/messages": { method: "GET", path: "/v1/sms/messages", statements: 3, transactions: 0 },
  "POST /v1/whatsapp/send": {
    method: "POST",
    path: "/v1/whatsapp/send",
    options: whatsApp(session),
    statements: 4,
    transactions: 1
  },
  "POST /v1/whatsapp/send-bulk": {
    method: "POST",
    path: "/v1/whatsapp/send-bulk",
    options: bulkWhatsApp(session),
    statements: 5,
    transactions: 1
  },
  "GET /v1/whatsapp/messages": { method: "GET", path: "/v1/whatsapp/messages", statements: 3, transactions: 0 },
  "POST /v1/verify/send": { method: "POST", path: "/v1/verify/send", options: code, statements: 12, transactions: 1 },
  "POST /v1/verify/check": { method: "POST", path: "/v1/verify/check", options: guess, statements: 3, transactions: 1 },
  // The timeline is a transaction.
  "the page of an email": page(shown, `/messages/email/${shown.email}`, 6, 1),
  "the page of an SMS": page(shown, `/messages/sms/${shown.sms}`, 5, 1),
  "the overview": page(shown, "/", 14),
  "the page of a webhook": page(shown, `/webhooks/${shown.webhook}`, 6),
  "the page of its deliveries": page(shown, `/webhooks/${shown.webhook}/deliveries`, 4),
  "the page of the keys": page(shown, "/keys", 2)
})

/** An email and an SMS that have been sent, and a webhook. */
const shownTo = Effect.fnUntraced(function*(accountId: AccountId) {
  const sql = yield* SqlClient.SqlClient
  const [email] =
    yield* sql`insert into email_messages (account_id, recipient, from_address, status, subject, sent_at, completed_at)
    values (${accountId}, 'ada@people.example', 'us@people.example', 'sent', 'Hello', now(), now()) returning id`
  const [sms] = yield* sql`insert into messages (account_id, channel, direction, recipient, content, status)
    values (${accountId}, 'sms', 'out', '+250788123456', '{"body": "Hello"}', 'delivered') returning id`
  const [webhook] = yield* sql`insert into webhooks (account_id, url, events, secret, secret_prefix, is_active)
    values (${accountId}, 'https://hooks.example/', array['*'], '', 'whsec_', false) returning id`
  const { cookie } = yield* signedInAs(accountId, "owner")
  return {
    base: `/console/${accountId}`,
    cookie,
    webhook: Number(webhook?.["id"]),
    email: Number(email?.["id"]),
    sms: Number(sms?.["id"])
  }
})

/** A session that counts as connected; the paused node does not connect it. */
const connectedSession = Effect.fnUntraced(function*(accountId: number) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`insert into whatsapp_sessions
      (account_id, session_key, name, data_key, is_paired, status, is_confirmed)
    values (${accountId}, 'wa_statements', 'Shop', '', true, 'connected', true) returning id`
  return Number(row?.["id"])
})

const isControl = (statement: string) => /^(begin|set transaction|commit|rollback|savepoint|release)/i.test(statement)

/** Sandboxes look for due reports several times a second: on a slow machine as often as a code is sent. */
const isOfSandbox = (statement: string) => /\bfrom sandbox_/.test(statement)

/**
 * What one request executes: what many requests execute, divided by their number. Other statements of the background are
 * fewer than the requests, so they do not count.
 */
const perRequest = (before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>) => {
  const counts = [...after].map(([statement, count]) =>
    [statement, Math.floor((count - (before.get(statement) ?? 0)) / repetitions)] as const
  )
  return {
    statements: counts.reduce(
      (sum, [statement, count]) => sum + (isControl(statement) || isOfSandbox(statement) ? 0 : count),
      0
    ),
    transactions: counts.reduce((sum, [statement, count]) => sum + (/^begin/i.test(statement) ? count : 0), 0)
  }
}

layer(TestDatabase.layer, { excludeTestServices: true })("a request", (it) => {
  it.effect("executes as many statements and transactions as its endpoint is known to need", () =>
    Effect.gen(function*() {
      const proxy = yield* makeDatabaseProxy()
      const node = yield* startNode({
        env: { DATABASE_URL: proxy.url, TEMPLATE_LIMIT_ENTERPRISE: "unlimited", PAUSED: "true" }
      })
      const { accountId, key } = yield* makeAccount()
      const cases = casesWith(yield* connectedSession(accountId), yield* shownTo(accountId))
      const found: Record<string, ReturnType<typeof perRequest>> = {}
      for (const [name, { method, options, path }] of Object.entries(cases)) {
        const ask = (index: number) => node.request(method, path, { key, ...options?.(index) })
        yield* ask(-1)
        const before = yield* proxy.executions
        for (let index = 0; index < repetitions; index++) {
          const answer = yield* ask(index)
          assert.isBelow(answer.status, 300, answer.text)
        }
        found[name] = perRequest(before, yield* proxy.executions)
      }
      const expected = Object.fromEntries(
        Object.entries(cases).map(([name, { statements, transactions }]) => [name, { statements, transactions }])
      )
      assert.deepStrictEqual(found, expected)
    }))
})

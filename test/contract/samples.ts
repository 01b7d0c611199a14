import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "../../src/values/Ids.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { eventually, type RunningNode } from "../support/Service.ts"
import { longer } from "../support/waiting.ts"

/** The tags of messages and batches. */
const tags = ["spring"]

/** A valid body for each endpoint with required fields. The contract tests fail for an endpoint without one. */
export const samples: Readonly<Record<string, unknown>> = {
  "POST /v1/auth/register": { name: "Ada", email: "ada@example.com", password: "correct horse battery" },
  "POST /v1/auth/login": { email: "nobody@example.com", password: "wrong horse battery" },
  "POST /v1/auth/password/forgot": { email: "nobody@example.com" },
  "POST /v1/auth/password/reset": {
    token: "rt_live_none",
    password: "correct horse battery",
    password_confirmation: "correct horse battery"
  },
  "PUT /v1/account/password": {
    current_password: "correct horse battery",
    password: "another horse battery",
    password_confirmation: "another horse battery"
  },
  "DELETE /v1/account": { confirmation: "delete" },
  "POST /v1/api-keys": { name: "Second" },
  "POST /v1/webhooks": { url: "http://127.0.0.1:14999/hook", events: ["*"] },
  "POST /v1/webhooks/:id/test": { event: "email.sent" },
  "PUT /v1/sandbox/receiver": { failing: false },
  "POST /v1/webhooks/:id/recover": { since: "2026-01-01T00:00:00Z" },
  "POST /v1/email/send": { to: "ada@example.com", subject: "Hello", text: "Hello", tags },
  "POST /v1/email/send-bulk": { recipients: ["ada@example.com"], subject: "Hello", html: "<p>Hello</p>", tags },
  "POST /v1/email/templates": { name: "Welcome", subject: "Hello {{name}}", html: "<p>Hello {{name}}</p>" },
  "POST /v1/email/domains": { domain: "news.example" },
  "POST /v1/sms/send": { to: "+250788123456", content: "Hello", tags },
  "POST /v1/sms/preview": { to: "+250788123456", content: "Hello" },
  "POST /v1/sms/send-bulk": { recipients: ["+250788123456"], content: "Hello", tags },
  "POST /v1/email/suppressions": { email: "gone@example.com" },
  "POST /v1/email/suppress-bulk": { emails: ["gone@example.com"] },
  "POST /v1/whatsapp/send": { session_id: 999_999_999, to: "+250788123456", content: "Hello", tags },
  "POST /v1/whatsapp/send-bulk": { session_id: 999_999_999, recipients: ["+250788123456"], content: "Hello", tags },
  "POST /v1/whatsapp/groups": { session_id: 999_999_999, name: "Team", participants: ["+250788123456"] },
  "PUT /v1/whatsapp/sessions/:id": { name: "Shop" },
  "POST /v1/whatsapp/sessions/:id/pairing-code": { phone_number: "+15550100300" },
  ...Object.fromEntries(
    ["email", "sms", "whatsapp"].flatMap((channel) => [
      [`PATCH /v1/${channel}/messages/:id`, { send_at: "2030-01-31T09:00:00Z" }],
      [`PATCH /v1/${channel}/batches/:batch_id`, { send_at: "2030-01-31T09:00:00Z" }]
    ])
  ),
  "POST /v1/messages": { to: { phone: "+250788123456" }, steps: [{ channel: "sms", content: "Hello" }] },
  "PATCH /v1/messages/:failover_id": { send_at: "2030-01-31T09:00:00Z" },
  "POST /v1/verify/send": { to: "ada@example.com", channel: "email" },
  "POST /v1/verify/check": { to: "ada@example.com", code: "123456" }
}

/** Queries for lists with a required parameter. */
export const queries: Readonly<Record<string, string>> = {
  "/v1/phone/validate": "?number=%2B250788123456",
  "/v1/webhooks/:id/recover": "?since=2026-01-01T00:00:00Z"
}

type Request = RunningNode["request"]

const created = Effect.fnUntraced(function*(request: Request, key: string, path: string) {
  const asking = request("POST", path, { key, json: samples[`POST ${path}`] })
  // A starved node makes no session.
  const answer = yield* eventually(asking, ({ status }) => status !== 503, longer.start)
  const id = ["id", "message_id", "batch_id"].map((name) => answer.at("data", name)).find((found) =>
    found !== undefined
  )
  return String(id ?? answer.at("id"))
})

/** Creates a session whose row says that it is connected; only the row is checked. */
export const connectedSession = Effect.fnUntraced(function*(request: Request, key: string) {
  const sql = yield* SqlClient.SqlClient
  const id = Number(yield* created(request, key, "/v1/whatsapp/sessions"))
  yield* Effect.orDie(sql`update whatsapp_sessions set status = 'connected' where id = ${id}`)
  return id
})

/** Creates a message or batch over such a session. */
const createdOnWhatsApp = Effect.fnUntraced(function*(request: Request, key: string, path: string) {
  const session_id = yield* connectedSession(request, key)
  const json = { ...Object(samples[`POST ${path}`]), session_id }
  const answer = yield* request("POST", path, { key, json })
  return [String(answer.at("data", "message_id") ?? answer.at("data", "batch_id"))]
})

/** Creates a group or a received file in the database only; WhatsApp itself is not asked. */
const receivedOnWhatsApp = Effect.fnUntraced(function*(request: Request, key: string, what: "file" | "group") {
  const sql = yield* SqlClient.SqlClient
  const session = Number(yield* created(request, key, "/v1/whatsapp/sessions"))
  const [row] = yield* Effect.orDie(
    what === "group"
      ? sql`insert into whatsapp_groups (session_id, jid, name) values (${session}, '120363000000000001@g.us', 'Team')
        returning id`
      : sql`insert into messages (account_id, channel, session_id, direction, recipient, type, content, status)
        select account_id, 'whatsapp', id, 'in', '+15550100300', 'image', '{"body": ""}', 'received'
        from whatsapp_sessions where id = ${session} returning id`
  )
  return [String(row?.["id"])]
})

/** Creates a row for one account, by the path that reads it, and returns the ids for its parameters in order. */
const rows: Readonly<
  Record<string, (request: Request, key: string) => Effect.Effect<ReadonlyArray<string>, never, SqlClient.SqlClient>>
> = {
  "/v1/whatsapp/contacts/:phone/check": Effect.fnUntraced(function*(request, key) {
    const sql = yield* SqlClient.SqlClient
    const id = yield* connectedSession(request, key)
    yield* Effect.orDie(sql`insert into whatsapp_number_checks (session_id, phone) values (${id}, '15550100200')`)
    return ["15550100200"]
  }),
  "/v1/whatsapp/contacts": Effect.fnUntraced(function*(request, key) {
    const sql = yield* SqlClient.SqlClient
    const session = Number(yield* created(request, key, "/v1/whatsapp/sessions"))
    yield* Effect.orDie(sql`insert into whatsapp_contacts (session_id, phone, name)
      values (${session}, '15550100200', 'Ada')`)
    return []
  }),
  "/v1/whatsapp/groups/:id": (request, key) => receivedOnWhatsApp(request, key, "group"),
  "/v1/whatsapp/messages/:id/media": (request, key) => receivedOnWhatsApp(request, key, "file"),
  "/v1/whatsapp/messages/:id": (request, key) => createdOnWhatsApp(request, key, "/v1/whatsapp/send"),
  "/v1/whatsapp/batches/:batch_id": (request, key) => createdOnWhatsApp(request, key, "/v1/whatsapp/send-bulk"),
  "/v1/api-keys/:id": (request, key) => Effect.map(created(request, key, "/v1/api-keys"), (id) => [id]),
  "/v1/account/attention": Effect.fnUntraced(function*(request, key) {
    const sql = yield* SqlClient.SqlClient
    const id = Number(yield* created(request, key, "/v1/webhooks"))
    yield* Effect.orDie(sql`update webhooks set failure_count = 3, failing_since = now() where id = ${id}`)
    return []
  }),
  "/v1/account/members": Effect.fnUntraced(function*(request, key) {
    const accountId = AccountId.make(Number((yield* request("GET", "/v1/account", { key })).at("data", "id")))
    return [String((yield* signedInAs(accountId, "developer")).personId)]
  }),
  "/v1/account/sign-ins/:id": Effect.fnUntraced(function*(request, key) {
    const sql = yield* SqlClient.SqlClient
    const accountId = Number((yield* request("GET", "/v1/account", { key })).at("data", "id"))
    yield* request("GET", "/v1/account/sign-ins", { key })
    const [row] = yield* Effect.orDie(sql`insert into login_sessions (token_hash, person_id, expires_at)
      select sha256(gen_random_uuid()::text::bytea), id, now() + interval '1 day' from people
      where account_id = ${accountId} returning id`)
    return [String(row?.["id"])]
  }),
  "/v1/account/sessions/:id": Effect.fnUntraced(function*(request, key) {
    const sql = yield* SqlClient.SqlClient
    const id = Number((yield* request("GET", "/v1/account", { key })).at("data", "id"))
    const [row] = yield* Effect.orDie(sql`insert into login_sessions (token_hash, account_id, expires_at)
      values (sha256(gen_random_uuid()::text::bytea), ${id}, now() + interval '1 day') returning id`)
    return [String(row?.["id"])]
  }),
  "/v1/requests": Effect.fnUntraced(function*(request, key) {
    const { headers } = yield* request("POST", "/v1/email/send", { key, json: { to: "ada@example.com" } })
    const id = headers["x-request-id"] ?? ""
    yield* eventually(request("GET", `/v1/requests/${id}`, { key }), ({ status }) => status === 200)
    return [id]
  }),
  "/v1/webhooks/:id": (request, key) => Effect.map(created(request, key, "/v1/webhooks"), (id) => [id]),
  // With an answer, about an SMS.
  "/v1/webhooks/:id/deliveries": Effect.fnUntraced(function*(request, key) {
    const sql = yield* SqlClient.SqlClient
    const id = Number(yield* created(request, key, "/v1/webhooks"))
    yield* Effect.orDie(sql`with event as (
        insert into events (id, account_id, name, body, channel, message_id, webhook_ids, delivery_ids)
        select 'evt_' || ulid_time(now()) || upper(left(md5(random()::text), 16)), account_id, 'message.failed', '', 'sms',
          4711, array[id], array[nextval('webhook_delivery_ids')]
        from webhooks where id = ${id} returning id, name, delivery_ids
      )
      insert into webhook_deliveries (webhook_id, id, event_id, event, status, attempt_count, response_code, created_at)
      select ${id}, delivery_ids[1], id, name, 'failed', 4, 503, now() from event`)
    return [String(id)]
  }),
  "/v1/webhooks/:id/deliveries/:delivery_id": Effect.fnUntraced(function*(request, key) {
    const id = yield* created(request, key, "/v1/webhooks")
    yield* created(request, key, "/v1/email/send-bulk")
    const list = yield* eventually(
      request("GET", `/v1/webhooks/${id}/deliveries`, { key }),
      ({ at }) => Number(at("data", 0, "attempt_count")) > 0
    )
    return [id, String(list.at("data", 0, "id"))]
  }),
  "/v1/webhooks/:id/recoveries/:recovery_id": Effect.fnUntraced(function*(request, key) {
    const id = yield* created(request, key, "/v1/webhooks")
    const json = samples["POST /v1/webhooks/:id/recover"]
    const answer = yield* request("POST", `/v1/webhooks/${id}/recover`, { key, json })
    return [id, String(answer.at("data", "id"))]
  }),
  "/v1/whatsapp/sessions/:id": (request, key) =>
    Effect.map(created(request, key, "/v1/whatsapp/sessions"), (id) => [id]),
  "/v1/email/domains/:id": (request, key) => Effect.map(created(request, key, "/v1/email/domains"), (id) => [id]),
  "/v1/email/batches/:batch_id": (request, key) =>
    Effect.map(created(request, key, "/v1/email/send-bulk"), (id) => [id]),
  "/v1/verify/status/:verification_id": (request, key) =>
    Effect.map(created(request, key, "/v1/verify/send"), (id) => [id]),
  "/v1/verify/blocks/:prefix": Effect.fnUntraced(function*(request, key) {
    const sql = yield* SqlClient.SqlClient
    const id = Number((yield* request("GET", "/v1/account", { key })).at("data", "id"))
    yield* Effect.orDie(sql`insert into verification_blocks (account_id, prefix, until)
      values (${id}, '+25078811', now() + interval '11 hours')`)
    return ["+25078811"]
  }),
  "/v1/messages/:failover_id": (request, key) => Effect.map(created(request, key, "/v1/messages"), (id) => [id]),
  "/v1/sms/batches/:batch_id": (request, key) => Effect.map(created(request, key, "/v1/sms/send-bulk"), (id) => [id]),
  "/v1/sms/messages/:id": (request, key) => Effect.map(created(request, key, "/v1/sms/send"), (id) => [id]),
  "/v1/sms/status/:id": (request, key) => Effect.map(created(request, key, "/v1/sms/send"), (id) => [id]),
  "/v1/email/suppressions/:email": Effect.fnUntraced(function*(request, key) {
    const path = "/v1/email/suppressions"
    const answer = yield* request("POST", path, { key, json: samples[`POST ${path}`] })
    return [String(answer.at("data", "email"))]
  }),
  "/v1/messages": Effect.fnUntraced(function*(request, key) {
    const sql = yield* SqlClient.SqlClient
    yield* created(request, key, "/v1/email/send")
    const [batch = ""] = yield* createdOnWhatsApp(request, key, "/v1/whatsapp/send-bulk")
    yield* Effect.orDie(sql`update messages set status = 'failed', error_code = 'not_on_whatsapp'
      where batch_id = ${batch}`)
    return []
  }),
  "/v1/email/messages/:id": (request, key) => Effect.map(created(request, key, "/v1/email/send"), (id) => [id]),
  "/v1/email/status/:id": (request, key) => Effect.map(created(request, key, "/v1/email/send"), (id) => [id]),
  "/v1/email/templates/:template_id": (request, key) =>
    Effect.map(created(request, key, "/v1/email/templates"), (id) => [id]),
  "/v1/email/templates/:template_id/versions/:version_id": Effect.fnUntraced(function*(request, key) {
    const id = yield* created(request, key, "/v1/email/templates")
    const path = `/v1/email/templates/${id}`
    yield* request("PUT", path, { key, json: { subject: "Welcome, {{name}}" } })
    return [id, String((yield* request("GET", `${path}/versions`, { key })).at("data", 0, "id"))]
  })
}

/** The row creator for a path: that of its longest known prefix. */
export const rowFor = (path: string) =>
  Object.entries(rows)
    .filter(([start]) => path === start || path.startsWith(`${start}/`))
    .toSorted(([a], [b]) => b.length - a.length)[0]?.[1]

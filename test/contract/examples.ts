import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { mailTo } from "../support/sandboxMails.ts"
import { type Answer, eventually, makeAccount, type RunningNode } from "../support/Service.ts"
import { endpoints, fill } from "./contract.ts"
import { phoneRecipes } from "./phoneExamples.ts"
import { connectedSession, queries, rowFor, samples } from "./samples.ts"

/** A request that an operation answers with success. */
interface Asked {
  /** Values of its path, in order. */
  readonly values?: ReadonlyArray<string>
  readonly query?: string
  readonly json?: unknown
  readonly key?: string
}

/** The account that asks, and its node. */
interface Caller {
  readonly request: RunningNode["request"]
  readonly key: string
}

const email = "ada@example.com"
const password = "correct horse battery"

/** The token of a new login. */
const loggedIn = ({ request }: Caller) =>
  Effect.map(
    request("POST", "/v1/auth/login", { json: { email, password } }),
    (answer) => String(answer.at("data", "token"))
  )

const onSession = (json: object) => ({ key, request }: Caller) =>
  Effect.map(connectedSession(request, key), (session_id): Asked => ({ json: { session_id, ...json } }))

const bodies = (json: unknown) => () => Effect.succeed<Asked>({ json })

const changing = (path: string, json: unknown) => ({ key, request }: Caller) =>
  Effect.map(rowFor(path)?.(request, key) ?? Effect.succeed([]), (values): Asked => ({ values, json }))

/** A request about a batch that has ended, and that reached no recipient. */
const failedBatch = (channel: "email" | "sms" | "whatsapp") =>
  Effect.fnUntraced(function*({ key, request }: Caller) {
    const sql = yield* SqlClient.SqlClient
    const [id = ""] = yield* rowFor(`/v1/${channel}/batches/:batch_id`)?.(request, key) ?? Effect.succeed([])
    // The session of the example is connected in its row alone, so that its batch would never end.
    if (channel === "whatsapp") {
      yield* Effect.orDie(sql`update message_batches set status = 'failed', completed_at = now() where id = ${id}`)
    }
    const batch = request("GET", `/v1/${channel}/batches/${id}`, { key })
    yield* eventually(batch, ({ at }) => typeof at("data", "completed_at") === "string")
    const table = channel === "email" ? "email_messages" : "messages"
    yield* Effect.orDie(sql`update ${sql(table)} set status = 'failed' where batch_id = ${id}`)
    return { values: [id], json: undefined } satisfies Asked
  })

/** A test key that has sent a mail. */
const ofTestKey = ({ key: live, request }: Caller) =>
  Effect.gen(function*() {
    const made = yield* request("POST", "/v1/api-keys", { key: live, json: { name: "CI", mode: "test" } })
    const key = String(made.at("data", "key"))
    yield* request("POST", "/v1/email/send", { key, json: samples["POST /v1/email/send"] })
    return { key, query: "" } satisfies Asked
  })

const fault = { fault: "sms_lost" }

/** A test key that has planned a fault. */
const withFault = Effect.fnUntraced(function*(caller: Caller) {
  const { key } = yield* ofTestKey(caller)
  yield* caller.request("POST", "/v1/sandbox/faults", { key, json: fault })
  return { key } satisfies Asked
})

const inHours = (hours: number) => Effect.map(DateTime.now, (now) => DateTime.formatIso(DateTime.add(now, { hours })))

/** A request about a message or a batch that waits for its time. It was sent by this path. */
const waiting = (path: string, isMoved: boolean) =>
  Effect.fnUntraced(function*({ key, request }: Caller) {
    const session = path.startsWith("/v1/whatsapp") ? { session_id: yield* connectedSession(request, key) } : {}
    const json = { ...Object(samples[`POST ${path}`]), ...session, send_at: yield* inHours(1) }
    const sent = yield* request("POST", path, { key, json })
    const asked: Asked = {
      values: [String(sent.at("data", "batch_id") ?? sent.at("data", "id"))],
      json: isMoved ? { send_at: yield* inHours(2) } : undefined
    }
    return asked
  })

const scheduled = ["email", "sms", "whatsapp"].flatMap((channel) => [
  [`POST /v1/${channel}/messages/:id/cancel`, waiting(`/v1/${channel}/send`, false)] as const,
  [`PATCH /v1/${channel}/messages/:id`, waiting(`/v1/${channel}/send`, true)] as const,
  [`PATCH /v1/${channel}/batches/:batch_id`, waiting(`/v1/${channel}/send-bulk`, true)] as const
])

/** A reset of the password with the token of the mail. */
const resetPassword = Effect.fnUntraced(function*({ request }: Caller) {
  const address = "lee@example.com"
  yield* makeAccount({ email: address, password })
  yield* request("POST", "/v1/auth/password/forgot", { json: { email: address } })
  const [token = ""] = /rt_live_\w+/.exec(yield* Effect.orDie(mailTo(address, "password"))) ?? []
  return { json: { token, password: "another horse battery", password_confirmation: "another horse battery" } }
})

/** Requests that a sample and its row do not make. */
const recipes = {
  ...Object.fromEntries(scheduled),
  ...phoneRecipes,
  "POST /v1/auth/password/reset": resetPassword,
  "POST /v1/messages/:failover_id/cancel": waiting("/v1/messages", false),
  "PATCH /v1/messages/:failover_id": waiting("/v1/messages", true),
  "POST /v1/auth/register": bodies({ name: "Grace", email: "grace@example.com", password: "correct horse battery" }),
  "POST /v1/auth/login": bodies({ email, password }),
  "POST /v1/auth/password/forgot": bodies({ email: "grace@example.com" }),
  "POST /v1/auth/logout": (caller: Caller) => Effect.map(loggedIn(caller), (key): Asked => ({ key })),
  "POST /v1/auth/confirmation": bodies(undefined),
  "DELETE /v1/account": () =>
    Effect.map(makeAccount(), ({ key }): Asked => ({ key, json: { confirmation: "DELETE" } })),
  "PUT /v1/account/profile": bodies({ name: "Ada Lovelace", timezone: "Africa/Kigali", locale: "en" }),
  "PUT /v1/account/notifications": bodies({ weekly_digest: false, usage_warnings: true }),
  "PUT /v1/account/password": Effect.fnUntraced(function*() {
    const own = yield* makeAccount({ email: "lin@example.com", password })
    const json = {
      current_password: password,
      password: "another horse battery",
      password_confirmation: "another horse battery"
    }
    return { key: own.key, json }
  }),
  "GET /v1/sandbox/messages": (caller: Caller) =>
    Effect.map(ofTestKey(caller), (asked): Asked => ({ ...asked, query: "?channel=email&to=ada@example.com&wait=10" })),
  "DELETE /v1/sandbox/messages": ofTestKey,
  "PUT /v1/sandbox/receiver": bodies({ failing: true }),
  "GET /v1/sandbox/faults": withFault,
  "POST /v1/sandbox/faults": (caller: Caller) =>
    Effect.map(ofTestKey(caller), ({ key }): Asked => ({ key, json: fault })),
  "DELETE /v1/sandbox/faults": withFault,
  "POST /v1/api-keys": bodies({ name: "Shop", scopes: ["email:write"], expires_at: "2036-01-01T00:00:00Z" }),
  "POST /v1/api-keys/:id/rotate": changing("/v1/api-keys/:id", { overlap_seconds: 3_600 }),
  "POST /v1/webhooks": bodies({ url: "https://example.com/hooks/messaging", events: ["email.*", "message.failed"] }),
  "PUT /v1/webhooks/:id": changing("/v1/webhooks/:id", { events: ["email.bounced"], is_active: true }),
  "POST /v1/webhooks/:id/rotate-secret": changing("/v1/webhooks/:id", { overlap_seconds: 3_600 }),
  "POST /v1/webhooks/:id/recoveries/:recovery_id/cancel": Effect.fnUntraced(function*({ key, request }: Caller) {
    const sql = yield* SqlClient.SqlClient
    const [id = ""] = yield* rowFor("/v1/webhooks/:id")?.(request, key) ?? Effect.succeed([])
    const [row] = yield* Effect.orDie(
      sql`insert into webhook_recoveries (webhook_id, since, until, statuses, position, ends_at)
        values (${Number(id)}, now(), now(), array['failed', 'skipped'], 'evt_', 'evt_') returning id`
    )
    return { values: [id, String(row?.["id"])] }
  }),
  "POST /v1/email/send": bodies({
    to: email,
    subject: "Your receipt {{number}}",
    html: "<p>Dear {{name}}, thank you.</p>",
    variables: { number: 7, name: "Ada" }
  }),
  "POST /v1/email/send-bulk": bodies({
    subject: "Hello {{name}}",
    html: "<p>Dear {{name}}, welcome to {{shop}}.</p>",
    variables: { shop: "Example" },
    recipients: [{ to: email, variables: { name: "Ada" } }, { to: "bob@example.com", variables: { name: "Bob" } }]
  }),
  "PUT /v1/email/templates/:template_id": changing("/v1/email/templates/:template_id", { name: "Welcome back" }),
  "PUT /v1/email/domains/:id": changing("/v1/email/domains/:id", { track_opens: true, track_clicks: false }),
  "POST /v1/email/suppressions": bodies({ email: "left@example.com" }),
  "POST /v1/email/suppress-bulk": bodies({ emails: ["gone@example.com", "left@example.com"] }),
  "POST /v1/email/batches/:batch_id/resend": failedBatch("email"),
  "POST /v1/sms/batches/:batch_id/resend": failedBatch("sms"),
  "POST /v1/whatsapp/batches/:batch_id/resend": failedBatch("whatsapp"),
  "POST /v1/sms/send": bodies({ to: "+250788123456", content: "Your order is ready." }),
  "POST /v1/sms/preview": bodies({ to: "+250788123456", content: "Your order is ready." }),
  "POST /v1/sms/send-bulk": bodies({
    content: "Hello {{name}}, your order is ready.",
    recipients: [{ to: "+250788123456", variables: { name: "Ada" } }]
  }),
  "POST /v1/verify/send": bodies({ to: "+250788123456", channel: "sms", brand_name: "Example" }),
  "POST /v1/verify/check": Effect.fnUntraced(function*({ key, request }: Caller) {
    const sent = yield* request("POST", "/v1/verify/send", { key, json: { to: "bob@example.com", channel: "email" } })
    return { json: { id: sent.at("data", "id"), code: "123456" } }
  }),
  "POST /v1/whatsapp/sessions": bodies({ name: "Shop" }),
  "PUT /v1/whatsapp/sessions/:id": changing("/v1/whatsapp/sessions/:id", { name: "Front desk" }),
  "POST /v1/whatsapp/send": onSession({ to: "+250788123456", type: "text", content: { body: "Your table is ready." } }),
  "POST /v1/whatsapp/send-bulk": onSession({
    type: "text",
    content: { body: "Hello {{name}}" },
    recipients: [{ to: "+250788123456", variables: { name: "Ada" } }]
  })
} satisfies Readonly<Record<string, (caller: Caller) => Effect.Effect<Asked, never, unknown>>>

/** The row that a path names, or one for its list. */
const rowOf = (path: string) =>
  [path, ...["id", "batch_id", "email", "template_id"].map((name) => `${path}/:${name}`)].flatMap((each) =>
    rowFor(each) ?? []
  )[0]

const message = "/v1/email/messages/:id"

/** Paths that show what another row causes. */
const causes: Readonly<Record<string, string>> = {
  "/v1/webhooks/:id/deliveries": "/v1/webhooks/:id/deliveries/:delivery_id",
  "/v1/webhooks/:id/recoveries": "/v1/webhooks/:id/recoveries/:recovery_id",
  "/v1/email/templates/:template_id/versions": "/v1/email/templates/:template_id/versions/:version_id",
  "/v1/email/history": message,
  "/v1/account/usage": message,
  "/v1/account/usage/daily": message,
  "/v1/account/stats": message
}

const parametersOf = (path: string) => [...path.matchAll(/:([a-z_]+)/g)].map(([, name = ""]) => name)

/** Every operation, with its name in the document. */
export const operations = endpoints.map(({ method, name, path }) => ({
  method,
  name,
  path,
  documented: name.replaceAll(/:([a-z_]+)/g, "{$1}")
}))

/** Runs one operation, and returns its example. */
export const run = Effect.fnUntraced(
  function*(request: RunningNode["request"], { method, name, path }: typeof operations[number]) {
    const caller: Caller = { request, key: (yield* makeAccount()).key }
    const recipe = Object.entries(recipes).find(([named]) => named === name)?.[1]
    const needsRow = path.includes(":") || method === "GET"
    const values = recipe === undefined && needsRow
      ? yield* rowOf(causes[path] ?? path)?.(caller.request, caller.key) ?? Effect.succeed([])
      : []
    const asked: Asked = { values, json: samples[name], ...(yield* recipe?.(caller) ?? Effect.succeed({})) }
    const names = parametersOf(path)
    const given = names.map((each, index) => [each, asked.values?.[index] ?? ""] as const)
    const json = asked.json ?? (method === "POST" || method === "PUT" ? {} : undefined)
    const target = `${fill(path, ...given.map(([, value]) => value))}${asked.query ?? queries[path] ?? ""}`
    const answer: Answer = yield* caller.request(method, target, {
      key: asked.key ?? caller.key,
      ...(json !== undefined && { json })
    })
    return {
      answer,
      example: {
        status: answer.status,
        ...(names.length > 0 && {
          params: Object.fromEntries(
            given.map(([each, value]) => [each, /^[1-9]\d*$/.test(value) && each !== "phone" ? Number(value) : value])
          )
        }),
        ...(asked.json !== undefined && { body: asked.json }),
        ...(answer.json !== undefined && { answer: shown(answer.json) })
      }
    }
  }
)

/** Makes the account that logs in. Every operation is run by a new account, so that none disturbs another. */
export const prepare = makeAccount({ email, password })

const maxLength = 200

/** An answer as documents show it: one entry of a list, short texts, and the address of no test. */
const shown = (json: unknown): unknown => {
  if (typeof json === "string") {
    const text = json.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, "https://messages.example.com")
      .replaceAll(/\b[0-9a-f]{16}@example\.com/g, email)
    return text.startsWith("data:image/") && text.length > maxLength ? "data:image/png;base64,iVBORw0KGgo=" : text
  }
  if (Array.isArray(json)) return json.slice(0, typeof json[0] === "object" ? 1 : json.length).map(shown)
  return typeof json === "object" && json !== null
    ? Object.fromEntries(Object.entries(json).map(([key, value]) => [key, shown(value)]))
    : json
}

/** Names of the fields at every depth that both values can have. A null or an empty list tells nothing of its kind. */
export const fieldsIn = (json: unknown, path = ""): ReadonlyArray<string> => {
  if (Array.isArray(json)) return fieldsIn(json[0], `${path}[]`)
  return typeof json === "object" && json !== null
    ? Object.entries(json).flatMap(([key, value]) => [`${path}.${key}`, ...fieldsIn(value, `${path}.${key}`)])
    : []
}

import { assert, layer } from "@effect/vitest"
import { DateTime, type Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { FailoversRepo } from "../../src/failovers/FailoversRepo.ts"
import { AppConfig } from "../../src/platform/config/AppConfig.ts"
import { FailoverId } from "../../src/values/Ids.ts"
import { assertRefused } from "../contract/contract.ts"
import { asking, dkimKey, insertDomain } from "../support/bulkMail.ts"
import { mailTo } from "../support/sandboxMails.ts"
import {
  type Answer,
  eventually,
  makeAccount,
  makeKey,
  type RunningNode,
  Service,
  startNode
} from "../support/Service.ts"
import { makeListener } from "../support/singleMail.ts"
import { freshNumber, phoneOf } from "../support/sms.ts"
import { makeSmsc } from "../support/Smsc.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
import { createSession, pairedSession, WhatsApp } from "../support/WhatsApp.ts"
import { unpaced, untilArrived } from "../support/whatsAppMessages.ts"

type Json = Readonly<Record<string, unknown>>

let serial = 0
const freshAddress = () => `diner${serial++}@people.example`

const sms = { channel: "sms", content: "Your table is ready." }
const email = { channel: "email", subject: "Your table is ready", text: "See you soon." }

/** Numbers of the sandbox that fail on purpose. */
const undeliverable = "+15005550002"
const silent = "+15005550003"
const refused = "+15005550001"

const send = (node: RunningNode, key: string, json: Json, headers = {}) =>
  node.request("POST", "/v1/messages", { key, json, headers })

const accepted = Effect.fnUntraced(function*(node: RunningNode, key: string, json: Json) {
  const answer = yield* send(node, key, json)
  assert.strictEqual(answer.status, 202, answer.text)
  return String(answer.at("data", "id"))
})

const reaching = (
  node: RunningNode,
  { id, key }: { readonly id: string; readonly key: string },
  statuses: ReadonlyArray<string>
) =>
  asking(
    node.request("GET", `/v1/messages/${id}`, { key }),
    ({ at }) => statuses.includes(String(at("data", "status"))) && typeof at("data", "completed_at") === "string"
  )

const stepsOf = (answer: { readonly at: (...path: ReadonlyArray<string | number>) => unknown }) =>
  (answer.at("data", "steps") as ReadonlyArray<Json>).map(({ channel, status }) => `${channel} ${status}`)

const later = (duration: Duration.Input) =>
  Effect.map(DateTime.now, (now) => DateTime.formatIso(DateTime.addDuration(now, duration)))

/** Waits until the actor has seen each change of the steps' messages. */
const untilSeen = Effect.fnUntraced(function*(id: string) {
  const sql = yield* SqlClient.SqlClient
  const left = Effect.orDie(sql`select from failover_signals where failover_id = ${id}`)
  yield* eventually(left, (signals) => signals.length === 0)
})

const seconds = /whole number of seconds from 1 to 259200/

/** What happens to an account while its message waits, and the reason that the message gives. */
const hindrances: ReadonlyArray<
  readonly [what: string, change: (sql: SqlClient.SqlClient, account: number) => Effect.Effect<unknown>, says: RegExp]
> = [
  [
    "the trial of its account has ended",
    (sql, id) => Effect.orDie(sql`update accounts set trial_ends_at = now() - interval '1 day' where id = ${id}`),
    /trial of the account had ended/
  ],
  [
    "its domain was removed",
    (sql, id) => Effect.orDie(sql`delete from email_domains where account_id = ${id}`),
    /verified/
  ]
]

/** What is refused, the request, the parameter that the answer names, and the reason. */
const faults: ReadonlyArray<readonly [what: string, json: Json, param: string, says: RegExp]> = [
  ["no steps", { steps: [] }, "steps", /at least one step/],
  [
    "six steps",
    { steps: Array.from({ length: 6 }, (_, index) => ({ ...sms, content: `Step ${index}` })) },
    "steps",
    /at most 5 steps/
  ],
  ["a step without an address", { to: { phone: "+250788123456" }, steps: [sms, email] }, "steps[1].to", /to\.email/],
  ["two identical steps", { steps: [sms, email, sms] }, "steps[2]", /must differ from steps\[0\]/],
  ["a wait of no seconds", { steps: [{ ...sms, within_seconds: 0 }, email] }, "steps[0].within_seconds", seconds],
  ["a wait of half a second", { steps: [{ ...sms, within_seconds: 0.5 }] }, "steps[0].within_seconds", /whole|integer/],
  ["a wait in a string", { steps: [{ ...sms, within_seconds: "60" }] }, "steps[0].within_seconds", /a number/],
  [
    "a wait of ten million seconds",
    { steps: [{ ...sms, within_seconds: 10_000_000 }] },
    "steps[0].within_seconds",
    seconds
  ],
  ["a read receipt of an SMS", { steps: [{ ...sms, until: "read" }] }, "steps[0].until", /sent, delivered/],
  ["an unknown aim", { steps: [{ ...email, until: "opened" }] }, "steps[0].until", /sent, delivered, read/],
  ["an empty text", { steps: [{ ...sms, content: " " }] }, "steps[0].content", /blank/],
  ["a mail without text", { steps: [sms, { channel: "email", subject: "Hello" }] }, "steps[1].html", /is required/],
  ["a missing value", { steps: [sms, { ...email, text: "Dear {{name}}" }] }, "steps[1].variables", /name/],
  ["an impossible number", { to: { phone: "+1", email: "ada@example.com" }, steps: [sms] }, "to.phone", /number/],
  ["an unknown channel", { steps: [{ channel: "fax", content: "Hello" }] }, "steps[0]", /whatsapp, sms or email/]
]

layer(Service.layer({ env: { SANDBOX_SMS_DELAY_MS: "50" } }), { excludeTestServices: true })(
  "messages with failover",
  (it) => {
    it.effect("the next channel follows a step that fails, and one event reports the end", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key, received } = yield* makeListener(node, ["message.*", "email.*"])
        const json = {
          to: { phone: undeliverable, email: freshAddress() },
          steps: [sms, { ...email, until: "sent" }],
          tags: ["booking"],
          metadata: { order: "A-17" }
        }
        const id = yield* accepted(node, key, json)
        const ended = yield* reaching(node, { id, key }, ["sent", "delivered"])
        assert.deepStrictEqual(stepsOf(ended).map((step) => step.split(" ")[0]), ["sms", "email"])
        assert.strictEqual(ended.at("data", "steps", 0, "status"), "failed")
        assert.deepInclude(ended.at("data"), { id, tags: ["booking"], metadata: { order: "A-17" } })
        const href = String(ended.at("data", "steps", 1, "href"))
        const mail = yield* node.request("GET", href, { key })
        assert.deepInclude(mail.at("data"), { tags: ["booking"], subject: "Your table is ready" })
        const events = yield* received(4)
        const own = events.filter(({ data }) => Object(data).id === id)
        assert.lengthOf(own, 1)
        assert.deepInclude(Object(own[0]?.data), { id, metadata: { order: "A-17" } })
        const ofSteps = events.filter(({ data }) => Object(data).id !== id)
        for (const { data } of ofSteps) assert.strictEqual(Object(data).failover_id, id)
      }))

    it.effect("the next channel follows a step that is not delivered in time", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const to = { phone: silent, email: freshAddress() }
        const steps = [{ ...sms, within_seconds: 10 }, { ...email, until: "sent" }]
        const id = yield* accepted(node, key, { to, steps })
        const ended = yield* reaching(node, { id, key }, ["sent"])
        assert.deepStrictEqual(stepsOf(ended), ["sms sent", "email sent"])
      }))

    it.effect("a message that a late receipt changes has the time of this change in its timeline", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { key } = yield* makeAccount()
        const id = yield* accepted(node, key, { to: { phone: silent }, steps: [{ ...sms, until: "sent" }] })
        yield* reaching(node, { id, key }, ["sent"])
        yield* sql`update failovers set completed_at = now() - interval '1 hour' where id = ${id}`
        yield* sql`update messages set status = 'delivered', delivered_at = now() where failover_id = ${id}`
        const changed = yield* reaching(node, { id, key }, ["delivered"])
        const timeline = yield* node.request("GET", `/v1/messages/${id}/timeline`, { key })
        const entries = timeline.at("data") as ReadonlyArray<Json> // a list, by the contract
        const own = entries.filter(({ kind, message }) => kind === "status" && message === undefined)
        assert.deepStrictEqual(own.map(({ at, detail }) => [at, Object(detail).status]), [
          [changed.at("data", "updated_at"), "delivered"]
        ])
      }))

    it.effect("a step that arrives ends the message, and the steps after it never begin", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key, received } = yield* makeListener(node, ["message.*"])
        const phone = freshNumber()
        const id = yield* accepted(node, key, { to: { phone, email: freshAddress() }, steps: [sms, email] })
        const ended = yield* reaching(node, { id, key }, ["delivered"])
        assert.deepStrictEqual(stepsOf(ended), ["sms delivered", "email waiting"])
        assert.lengthOf(yield* phoneOf(node, phone), 1)
        assert.isAbove(Number(ended.at("data", "cost_usd")), 0)
        const names = (yield* received(3)).filter(({ data }) => Object(data).id === id).map(({ event }) => event)
        assert.deepStrictEqual(names, ["message.delivered"])
      }))

    it.effect("an open by a machine does not read a step, and one by a person does", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { key } = yield* makeAccount()
        const html = "<p>Your table is ready.</p>"
        const tracked = { channel: "email", subject: "Your table", html, track_opens: true, until: "read" }
        /** Sends the steps, and opens the mail of the first one with this program. Six seconds later it may be a person. */
        const opened = Effect.fnUntraced(function*(within_seconds: number, userAgent: string) {
          const address = freshAddress()
          const steps = [{ ...tracked, within_seconds }, { ...sms, until: "sent" }]
          const id = yield* accepted(node, key, { to: { email: address, phone: freshNumber() }, steps })
          const [pixel] = /\/t\/o\/[\w-]{32}\.gif/.exec(yield* mailTo(address, "Your table")) ?? ["/none"]
          yield* asking(
            node.request("GET", `/v1/messages/${id}`, { key }),
            ({ at }) => at("data", "steps", 0, "status") === "sent"
          )
          yield* sql`update email_messages set sent_at = sent_at - interval '6 seconds' where failover_id = ${id}`
          const answer = yield* node.request("GET", pixel, { headers: { "user-agent": userAgent } })
          assert.strictEqual(answer.status, 200)
          return { id, pixel }
        })
        const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
        const prefetched = yield* opened(15, "Mozilla/5.0")
        const both = yield* opened(3600, "Mozilla/5.0")
        yield* untilSeen(both.id)
        yield* node.request("GET", both.pixel, { headers: { "user-agent": firefox } })
        const read = yield* reaching(node, { id: both.id, key }, ["read"])
        assert.deepStrictEqual(stepsOf(read), ["email read", "sms waiting"])
        const late = yield* reaching(node, { id: prefetched.id, key }, ["sent", "delivered", "read"])
        assert.include(["email sent, sms sent", "email sent, sms delivered"], stepsOf(late).join(", "))
        const [mail] = yield* sql`select status from email_messages where failover_id = ${prefetched.id}`
        assert.strictEqual(mail?.["status"], "opened")
      }))

    it.effect("an email that is opened by a machine and then reported as delivered has reached delivered", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { key } = yield* makeAccount()
        const id = yield* accepted(node, key, {
          to: { email: freshAddress() },
          steps: [{ ...email, until: "delivered" }]
        })
        const read = node.request("GET", `/v1/messages/${id}`, { key })
        yield* asking(read, ({ at }) => at("data", "steps", 0, "status") === "sent")
        yield* sql`update email_messages set status = 'opened', opens = 1, machine_opens = 1 where failover_id = ${id}`
        assert.deepStrictEqual(stepsOf(yield* read), ["email sent"])
        yield* untilSeen(id)
        yield* sql`update email_messages set delivered_at = now() where failover_id = ${id}`
        assert.deepStrictEqual(stepsOf(yield* reaching(node, { id, key }, ["delivered"])), ["email delivered"])
      }))

    it.effect("an alias gets the end of a message that ended on its channel, and of no other", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key, received } = yield* makeListener(node, ["sms.sent", "message.delivered"])
        const to = { phone: undeliverable, email: freshAddress() }
        const byEmail = yield* accepted(node, key, { to, steps: [sms, { ...email, until: "sent" }] })
        yield* reaching(node, { id: byEmail, key }, ["sent"])
        const steps = [{ ...sms, until: "sent" }]
        const bySms = yield* accepted(node, key, { to: { phone: silent }, steps })
        yield* reaching(node, { id: bySms, key }, ["sent"])
        const later = yield* accepted(node, key, { to: { phone: freshNumber() }, steps: [sms] })
        yield* reaching(node, { id: later, key }, ["delivered"])
        const isLast = ({ data, event }: { readonly data: unknown; readonly event: unknown }) =>
          event === "message.delivered" && Object(data).id === later
        const events = yield* eventually(
          received(2),
          (own) => own.some(isLast) && own.some(({ data }) => Object(data).id === bySms)
        )
        const ends = events.filter(({ data }) => [byEmail, bySms].includes(Object(data).id))
        assert.deepStrictEqual(ends.map(({ data, event }) => [event, Object(data).id]), [["message.sent", bySms]])
      }))

    it.effect("message.failed says that no step has arrived", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key, received } = yield* makeListener(node, ["message.failed"])
        const steps = [sms, { ...sms, content: "Once more." }]
        const id = yield* accepted(node, key, { to: { phone: refused }, steps })
        const ended = yield* reaching(node, { id, key }, ["failed"])
        assert.deepStrictEqual(stepsOf(ended), ["sms failed", "sms failed"])
        const own = (yield* received(3)).find(({ data }) => Object(data).id === id)
        assert.deepInclude(Object(own?.data), { id, to: refused, status: "failed", error_code: "no_step_arrived" })
      }))

    it.effect("the cost of a message is the exact sum of its steps", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { key } = yield* makeAccount()
        const id = yield* accepted(node, key, {
          to: { phone: refused },
          steps: [sms, { ...sms, content: "Once more." }]
        })
        yield* reaching(node, { id, key }, ["failed"])
        yield* sql`update messages m set cost_micros = 100000 + 600000 * s.position from failover_steps s
          where s.failover_id = ${id} and s.message_id = m.id`
        const found = yield* node.request("GET", `/v1/messages/${id}`, { key })
        assert.deepStrictEqual([0, 1].map((step) => found.at("data", "steps", step, "cost_usd")), [0.1, 0.7])
        assert.strictEqual(found.at("data", "cost_usd"), 0.8)
      }))

    for (const [what, json, param, says] of faults) {
      it.effect(`${what} gets 422 with the parameter, and nothing is sent`, () =>
        Effect.gen(function*() {
          const node = yield* Service
          const { key } = yield* makeAccount()
          const answer = yield* send(node, key, { to: { phone: freshNumber(), email: freshAddress() }, ...json })
          assertRefused(answer, 422, "validation_error")
          assert.strictEqual(answer.at("error", "param"), param, answer.text)
          assert.match(String(answer.at("error", "errors", 0, "message")), says)
          const list = yield* node.request("GET", "/v1/sms/messages", { key })
          assert.strictEqual(list.at("meta", "total"), 0)
        }))
    }

    it.effect("a step to a number without a price and one of an unknown template are refused at once", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const to = { phone: freshNumber(), email: freshAddress() }
        const satellite = yield* send(node, key, { to, steps: [email, { ...sms, to: "+870773111632" }] })
        assertRefused(satellite, 422, "unsupported_destination")
        assert.strictEqual(satellite.at("error", "param"), "steps[1].to")
        const templated = { channel: "email", template_id: "tmpl_01ARZ3NDEKTSV4RRFFQ69G5FAV" }
        const unknown = yield* send(node, key, { to, steps: [sms, templated] })
        assertRefused(unknown, 404, "not_found")
        assert.strictEqual(unknown.at("error", "param"), "steps[1].template_id")
        assert.lengthOf(yield* phoneOf(node, to.phone), 0)
      }))

    it.effect("an unknown session and an unverified sender are refused at once", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const to = { phone: freshNumber(), email: freshAddress() }
        const whatsapp = { channel: "whatsapp", session_id: 987_654, content: "Hello" }
        const unknown = yield* send(node, key, { to, steps: [sms, whatsapp] })
        assertRefused(unknown, 404, "not_found")
        assert.strictEqual(unknown.at("error", "param"), "steps[1].session_id")
        const foreign = { ...email, from: "shop@unverified.example" }
        const unverified = yield* send(node, key, { to, steps: [sms, foreign] })
        assert.strictEqual(unverified.status, 422, unverified.text)
        assert.strictEqual(unverified.at("error", "param"), "steps[1].from")
      }))

    it.effect("a key needs the scope of each channel", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const scoped = yield* node.request("POST", "/v1/api-keys", {
          key,
          json: { name: "SMS", scopes: ["sms:write"] }
        })
        const own = String(scoped.at("data", "key"))
        const to = { phone: freshNumber(), email: freshAddress() }
        const answer = yield* send(node, own, { to, steps: [sms, email] })
        assertRefused(answer, 403, "insufficient_scope")
        assert.deepStrictEqual(answer.at("error", "required"), ["email:write"])
        yield* accepted(node, own, { to, steps: [sms] })
      }))

    it.effect("a key without the scope or the permission of a step sends, reads, cancels and moves nothing", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { accountId, key } = yield* makeAccount()
        const to = { phone: freshNumber(), email: freshAddress() }
        const steps = [{ ...email, until: "sent" }]
        const send_at = yield* later("1 hour")
        const id = yield* accepted(node, key, { to, steps, send_at })
        const others = [
          {
            grant: { scopes: ["sms:write" as const] },
            type: "insufficient_scope",
            required: [["email:write"], ["email:write"]]
          },
          {
            grant: { permissions: ["messages:read" as const, "messages:write" as const] },
            type: "insufficient_permission",
            required: ["emails:read", "emails:write"]
          }
        ]
        for (const { grant, required: [reading, writing], type } of others) {
          const { key: other } = yield* makeKey(accountId, grant)
          const refused = (answer: Answer, required: unknown) => {
            assertRefused(answer, 403, type)
            assert.deepStrictEqual(answer.at("error", "required"), required)
          }
          refused(yield* node.request("GET", `/v1/messages/${id}`, { key: other }), reading)
          refused(yield* send(node, other, { to, steps }), writing)
          refused(yield* node.request("POST", `/v1/messages/${id}/cancel`, { key: other }), writing)
          const moved = yield* node.request("PATCH", `/v1/messages/${id}`, { key: other, json: { send_at } })
          refused(moved, writing)
        }
        const { at } = yield* node.request("GET", `/v1/messages/${id}`, { key })
        assert.strictEqual(at("data", "status"), "scheduled")
      }))

    it.effect("a WhatsApp content that cannot be stored is refused at its step", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const { id: session_id } = yield* createSession(node, key)
        for (const note of ["\u0000", "\ud800", [{ deep: "a\u0000" }]]) {
          const steps = [{ channel: "whatsapp", session_id, content: { body: "Hello", note } }]
          const answer = yield* send(node, key, { to: { phone: freshNumber() }, steps })
          assertRefused(answer, 422, "validation_error")
          assert.match(String(answer.at("error", "param")), /^steps\[0\]\.content/)
        }
      }))

    it.effect("a repeated Idempotency-Key sends once", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const phone = freshNumber()
        const headers = { "idempotency-key": `booking-${phone}` }
        const json = { to: { phone }, steps: [sms] }
        const first = yield* send(node, key, json, headers)
        const again = yield* send(node, key, json, headers)
        assert.deepStrictEqual([again.text, again.headers["idempotency-replayed"]], [first.text, "true"])
        yield* reaching(node, { key, id: String(first.at("data", "id")) }, ["delivered"])
        assert.lengthOf(yield* phoneOf(node, phone), 1)
      }))

    it.effect("a scheduled message waits, moves and is canceled once", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const { key: other } = yield* makeAccount()
        const phone = freshNumber()
        const sent = yield* send(node, key, { to: { phone }, steps: [sms], send_at: yield* later("1 hour") })
        assert.strictEqual(sent.at("data", "status"), "scheduled", sent.text)
        const path = `/v1/messages/${String(sent.at("data", "id"))}`
        const moved = yield* node.request("PATCH", path, { key, json: { send_at: yield* later("2 hours") } })
        assert.strictEqual(moved.status, 200, moved.text)
        const wrong: ReadonlyArray<readonly [send_at: unknown, says: RegExp]> = [
          [yield* later("5 seconds"), /at least 10 seconds ahead/],
          [yield* later("61 days"), /at most 60 days ahead/],
          ["2030-01-31T09:00:00", /RFC 3339 timestamp with an offset/],
          [undefined, /is required/],
          [null, /must be a string/]
        ]
        for (const [send_at, says] of wrong) {
          const refused = yield* node.request("PATCH", path, { key, json: { send_at } })
          assertRefused(refused, 422, "validation_error")
          assert.strictEqual(refused.at("error", "param"), "send_at", refused.text)
          assert.match(String(refused.at("error", "errors", 0, "message")), says)
        }
        assertRefused(yield* node.request("GET", path, { key: other }), 404, "not_found")
        assertRefused(yield* node.request("POST", `${path}/cancel`, { key: other }), 404, "not_found")
        const canceled = yield* node.request("POST", `${path}/cancel`, { key })
        assert.deepInclude(canceled.at("data"), { status: "canceled" })
        assert.deepStrictEqual(stepsOf(canceled), ["sms waiting"])
        const timeline = yield* node.request("GET", `${path}/timeline`, { key })
        assert.deepStrictEqual(
          (timeline.at("data") as ReadonlyArray<Json>).map(({ detail, kind }) => [kind, Object(detail).send_at]),
          [
            ["accepted", undefined],
            ["scheduled", sent.at("data", "send_at")],
            ["rescheduled", moved.at("data", "send_at")],
            ["canceled", undefined]
          ]
        )
        const twice = yield* node.request("POST", `${path}/cancel`, { key })
        assert.strictEqual(twice.status, 409, twice.text)
        const late = yield* node.request("PATCH", path, { key, json: { send_at: yield* later("3 hours") } })
        assert.strictEqual(late.status, 409, late.text)
        assert.lengthOf(yield* phoneOf(node, phone), 0)
      }))

    it.effect("the status is the best of all steps, and a cancel after a hand-over begins no further one", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key, received } = yield* makeListener(node, ["message.sent", "message.failed"])
        const steps = [{ ...sms, within_seconds: 10 }, email]
        const bounced = yield* accepted(node, key, { to: { phone: silent, email: "bounce@people.example" }, steps })
        const best = yield* reaching(node, { id: bounced, key }, ["sent", "failed"])
        assert.deepStrictEqual([best.at("data", "status"), ...stepsOf(best)], ["sent", "sms sent", "email failed"])

        const id = yield* accepted(node, key, { to: { phone: silent, email: freshAddress() }, steps: [sms, email] })
        const read = node.request("GET", `/v1/messages/${id}`, { key })
        yield* asking(read, ({ at }) => at("data", "steps", 0, "status") === "sent")
        const canceled = yield* node.request("POST", `/v1/messages/${id}/cancel`, { key })
        assert.deepStrictEqual([canceled.status, canceled.at("data", "status")], [200, "sent"], canceled.text)
        assert.isString(canceled.at("data", "canceled_at"))
        assert.deepStrictEqual(stepsOf(canceled), ["sms sent", "email waiting"])
        assertRefused(yield* node.request("POST", `/v1/messages/${id}/cancel`, { key }), 409, "message_over")
        // The two messages, and their first steps.
        const own = (yield* received(4)).filter(({ data }) => [bounced, id].includes(String(Object(data).id)))
        assert.deepStrictEqual(
          own.map(({ data, event }) => [event, Object(data).id]).toSorted(),
          [
            ["message.sent", bounced],
            ["message.sent", id]
          ].toSorted()
        )
      }))

    for (const [what, change, says] of hindrances) {
      it.effect(`a scheduled message fails with a reason and one event if ${what}, and no step is sent`, () =>
        Effect.gen(function*() {
          const node = yield* Service
          const sql = yield* SqlClient.SqlClient
          const { accountId, key, received } = yield* makeListener(node, ["message.failed"])
          const domain = `d${accountId}.example`
          yield* insertDomain(accountId, domain, { key: dkimKey.pem })
          const to = { phone: freshNumber(), email: freshAddress() }
          const steps = [{ ...email, from: `us@${domain}` }, ...(what.includes("domain") ? [] : [sms])]
          const sent = yield* send(node, key, { to, steps, send_at: yield* later("1 hour") })
          const id = String(sent.at("data", "id"))
          yield* change(sql, accountId)
          yield* sql`update failovers set send_at = now(), due_at = now() where id = ${id}`
          const ended = yield* reaching(node, { id, key }, ["failed"])
          assert.isTrue(stepsOf(ended).every((step) => step.endsWith("failed")), ended.text)
          assert.match(String(ended.at("data", "steps", 0, "error")), says)
          const [event] = yield* received(1)
          assert.deepInclude(Object(event?.data), { id, status: "failed", error_code: "no_step_arrived" })
          assert.match(String(Object(event?.data).error_message), says)
          assert.lengthOf(yield* phoneOf(node, to.phone), 0)
          const rows = yield* sql`select from email_messages where account_id = ${accountId}`
          assert.lengthOf(rows, 0)
        }))
    }

    it.effect("no further step begins for an account that was deleted after the first one", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount()
        const steps = [{ ...sms, within_seconds: 10 }, { ...email, until: "sent" }]
        const id = yield* accepted(node, key, { to: { phone: silent, email: freshAddress() }, steps })
        yield* sql`update accounts set deleted_at = now() where id = ${accountId}`
        const [row] = yield* eventually(
          Effect.orDie(sql`select s.error, f.status from failovers f join failover_steps s on s.failover_id = f.id
            where f.id = ${id} and f.completed_at is not null and s.position = 1`),
          (rows) => rows.length === 1,
          longer.turn
        )
        assert.strictEqual(row?.["status"], "sent")
        assert.match(String(row?.["error"]), /account was deleted/)
      }))

    it.effect("changes of a deleted message are forgotten, so that they hold up no other", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount()
        const id = yield* accepted(node, key, { to: { phone: silent }, steps: [{ ...sms, within_seconds: 3600 }] })
        yield* sql`delete from failovers where id = ${id} and account_id = ${accountId}`
        yield* sql`insert into failover_signals (failover_id) values (${id})`
        yield* untilSeen(id)
      }))

    it.effect("a message does not leave before its time", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const phone = freshNumber()
        const sent = yield* send(node, key, { to: { phone }, steps: [sms], send_at: yield* later("20 seconds") })
        assert.strictEqual(sent.status, 202, sent.text)
        const ended = yield* reaching(node, { key, id: String(sent.at("data", "id")) }, ["delivered"])
        const wait = Date.parse(String(ended.at("data", "steps", 0, "begun_at"))) -
          Date.parse(String(ended.at("data", "send_at")))
        assert.isAtLeast(wait, 0)
        // Within a second on an idle machine; the machine of the tests may be busy.
        assert.isBelow(wait, 15_000)
      }))
  }
)

// No carrier answers at this address, so SMS stay queued.
const away = { SMS_PROVIDER: "smpp", SMPP_URL: "smpp://user:secret@127.0.0.1:9" }

layer(Service.layer({ env: away }), { excludeTestServices: true })(
  "messages with failover while a carrier is away",
  (it) => {
    it.effect("a step that still waits at the end of its time is canceled, costs nothing, and the next one follows", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const steps = [{ ...sms, within_seconds: 1 }, { ...email, until: "sent" }]
        const id = yield* accepted(node, key, { to: { phone: freshNumber(), email: freshAddress() }, steps })
        const ended = yield* reaching(node, { id, key }, ["sent"])
        assert.deepStrictEqual(stepsOf(ended), ["sms canceled", "email sent"])
        const text = yield* node.request("GET", String(ended.at("data", "steps", 0, "href")), { key })
        assert.deepInclude(text.at("data"), { status: "canceled", failover_id: id })
        assert.strictEqual(ended.at("data", "cost_usd"), 0)
        const billing = yield* node.request("GET", "/v1/account/billing", { key })
        assert.strictEqual(billing.at("data", "amount_usd"), 0)
      }))

    it.effect("a message whose cancel is committed is withdrawn, also if the node dies before it withdraws the step", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const steps = [{ ...sms, within_seconds: 3600 }]
        const id = yield* accepted(node, key, { to: { phone: freshNumber() }, steps })
        yield* Effect.flatMap(FailoversRepo, ({ cancel }) => cancel(FailoverId.make(id))).pipe(
          Effect.provide(FailoversRepo.layer.pipe(Layer.provide(AppConfig.layer)))
        )
        const ended = yield* reaching(node, { id, key }, ["canceled"])
        assert.deepStrictEqual(stepsOf(ended), ["sms canceled"])
      }))
  }
)

layer(TestDatabase.layer, { excludeTestServices: true })(
  "messages with failover whose carrier breaks off",
  (it) => {
    it.effect("the next step follows one whose submit has no answer, and which can neither be withdrawn nor repeated", () =>
      Effect.gen(function*() {
        const smsc = yield* makeSmsc(() => ({ never: true }))
        const node = yield* startNode({ env: { SMS_PROVIDER: "smpp", SMPP_URL: smsc.url } })
        const sql = yield* SqlClient.SqlClient
        const { key } = yield* makeAccount()
        yield* smsc.until(({ bound }) => bound() === 1, longer.takeover)
        const steps = [{ ...sms, within_seconds: 10 }, { ...email, until: "sent" }]
        const id = yield* accepted(node, key, { to: { phone: freshNumber(), email: freshAddress() }, steps })
        yield* smsc.until(({ submits }) => submits.length === 1)
        smsc.refuseBinds(0x0d)
        yield* smsc.cut
        yield* eventually(
          Effect.orDie(sql`select from sms_parts p join messages m on m.id = p.message_id
            where m.failover_id = ${id} and p.status = 'queued' and p.doubts = 1`),
          (parts) => parts.length === 1
        )
        yield* sql`update failover_steps set begun_at = now() - interval '41 seconds' where failover_id = ${id} and position = 0`
        yield* sql`update failovers set due_at = now() where id = ${id}`
        const ended = yield* reaching(node, { id, key }, ["sent"])
        assert.deepStrictEqual(stepsOf(ended), ["sms queued", "email sent"])
        assert.lengthOf(smsc.submits, 1)
      }))
  }
)

layer(WhatsApp.layer({ env: { ...unpaced, SANDBOX_SMS_DELAY_MS: "50" } }), {
  excludeTestServices: true
})("messages with failover from WhatsApp", (it) => {
  it.effect("a session of another account is refused at once", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const { id: session_id } = yield* createSession(node, (yield* makeAccount()).key)
      const steps = [{ channel: "whatsapp", session_id, content: "Hello" }, sms]
      assertRefused(yield* send(node, key, { to: { phone: freshNumber() }, steps }), 404, "not_found")
    }))

  it.effect("a message that arrives and is not read in time gets its next step, at the address of that step", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { phone, simulator } = yield* WhatsApp
      const { key } = yield* makeAccount()
      const session = yield* pairedSession(node, key)
      const number = yield* phone
      simulator.controls.setReceipts(number, { delivered: true, read: false })
      const other = freshNumber()
      const steps = [
        { channel: "whatsapp", session_id: session.id, content: "Hello", until: "read", within_seconds: 10 },
        { ...sms, to: other }
      ]
      const id = yield* accepted(node, key, { to: { phone: `+${number}` }, steps })
      const ended = yield* reaching(node, { id, key }, ["delivered"])
      assert.deepStrictEqual(stepsOf(ended), ["whatsapp delivered", "sms delivered"])
      assert.lengthOf(yield* phoneOf(node, other), 1)
    }))

  it.effect("a session that is not connected fails its step, and the next one follows", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const { id: session_id } = yield* createSession(node, key)
      const steps = [{ channel: "whatsapp", session_id, content: "Hello" }, sms]
      const id = yield* accepted(node, key, { to: { phone: freshNumber() }, steps })
      const ended = yield* reaching(node, { id, key }, ["delivered"])
      assert.deepStrictEqual(stepsOf(ended), ["whatsapp failed", "sms delivered"])
      assert.match(String(ended.at("data", "steps", 0, "error")), /connected/)
    }))

  it.effect("a number without WhatsApp gets an SMS, and one with WhatsApp does not", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { phone } = yield* WhatsApp
      const { key } = yield* makeAccount()
      const session = yield* pairedSession(node, key)
      const steps = [{ channel: "whatsapp", session_id: session.id, content: "Hello" }, sms]
      const without = yield* accepted(node, key, { to: { phone: freshNumber() }, steps })
      assert.deepStrictEqual(stepsOf(yield* reaching(node, { id: without, key }, ["delivered"])), [
        "whatsapp failed",
        "sms delivered"
      ])
      const number = yield* phone
      const reached = yield* accepted(node, key, { to: { phone: `+${number}` }, steps })
      const ended = yield* reaching(node, { id: reached, key }, ["delivered", "read"])
      assert.strictEqual(ended.at("data", "steps", 1, "status"), "waiting")
      yield* untilArrived(number, session.number, 1)
    }))
})

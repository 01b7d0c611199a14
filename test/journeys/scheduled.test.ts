import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { asking, dkimKey, insertDomain } from "../support/bulkMail.ts"
import { bringForward, schedule, secondsAhead } from "../support/scheduled.ts"
import { eventually, makeAccount, type RunningNode, Service } from "../support/Service.ts"
import { makeListener } from "../support/singleMail.ts"
import { freshNumber } from "../support/sms.ts"
import { pairedSession, WhatsApp } from "../support/WhatsApp.ts"
import { unpaced } from "../support/whatsAppMessages.ts"

const mail = { subject: "Hello {{name|you}}", html: "<p>Hello</p>" }

/** A send of each kind: its path, its body, and where its record is. */
const kinds = [
  ["email", "/v1/email/send", () => ({ ...mail, to: ["a@people.example", "b@people.example"] }), "/v1/email/messages"],
  [
    "email",
    "/v1/email/send-bulk",
    () => ({ ...mail, recipients: ["a@people.example", "b@people.example"] }),
    "/v1/email/batches"
  ],
  ["sms", "/v1/sms/send", () => ({ to: freshNumber(), content: "a".repeat(200) }), "/v1/sms/messages"],
  [
    "sms",
    "/v1/sms/send-bulk",
    () => ({ recipients: [freshNumber(), freshNumber()], content: "Hello" }),
    "/v1/sms/batches"
  ],
  ["whatsapp", "/v1/whatsapp/send", () => ({ content: "Hello" }), "/v1/whatsapp/messages"],
  ["whatsapp", "/v1/whatsapp/send-bulk", () => ({ content: "Hello" }), "/v1/whatsapp/batches"]
] as const

type Kind = (typeof kinds)[number]

const failover = [
  "failover",
  "/v1/messages",
  () => ({ to: { phone: freshNumber() }, steps: [{ channel: "sms", content: "Hello" }] })
] as const

/** What the request needs of the account: a connected session for WhatsApp. */
const bodyOf = Effect.fnUntraced(function*(node: RunningNode, key: string, [channel, path, make]: Kind) {
  if (channel !== "whatsapp") return make()
  const { phone } = yield* WhatsApp
  const { id } = yield* pairedSession(node, key)
  const to = `+${yield* phone}`
  return { ...make(), session_id: id, ...(path.endsWith("bulk") ? { recipients: [to] } : { to }) }
})

const whichOf = (answer: { readonly at: (...path: ReadonlyArray<string>) => unknown }) => {
  const batch = answer.at("data", "batch_id")
  return batch === undefined ? { id: answer.at("data", "id") } : { batch }
}

const idOf = (answer: Parameters<typeof whichOf>[0]) => String(answer.at("data", "batch_id") ?? answer.at("data", "id"))

/** A day of February that does not exist in the year of the test, or the last one that does. */
const refusedTimes: ReadonlyArray<readonly [what: string, at: Effect.Effect<unknown>, says: RegExp]> = [
  ["in the past", secondsAhead(-60), /at least 10 seconds ahead/],
  ["now", secondsAhead(0), /at least 10 seconds ahead/],
  ["in five seconds", secondsAhead(5), /at least 10 seconds ahead/],
  ["61 days ahead", secondsAhead(61 * 86_400), /at most 60 days ahead/],
  ["without an offset", Effect.map(secondsAhead(3_600), (at) => at.slice(0, 19)), /RFC 3339 timestamp with an offset/],
  ["of a day only", Effect.succeed("2030-01-31"), /RFC 3339 timestamp with an offset/],
  ["on 29 February of a common year", Effect.succeed("2027-02-29T09:00:00Z"), /RFC 3339 timestamp with an offset/],
  ["on 29 February of a leap year, years ahead", Effect.succeed("2032-02-29T09:00:00Z"), /at most 60 days ahead/],
  ["in Unix seconds", Effect.succeed(1_900_000_000), /must be a string/],
  ["of a word", Effect.succeed("tomorrow"), /RFC 3339 timestamp with an offset/]
]

layer(WhatsApp.layer({ env: { ...unpaced, SANDBOX_SMS_DELAY_MS: "50" } }), {
  excludeTestServices: true
})((it) => {
  describe("scheduled messages", () => {
    for (const [what, at, says] of refusedTimes) {
      it.effect(`a time ${what} is refused with 422 by every send`, () =>
        Effect.gen(function*() {
          const node = yield* Service
          const { key } = yield* makeAccount()
          for (const [, path, make] of [...kinds, failover]) {
            const body = { session_id: 1, to: "+250788123456", recipients: ["+250788123456"], ...make() }
            const answer = yield* node.request("POST", path, { key, json: { ...body, send_at: yield* at } })
            assertRefused(answer, 422, "validation_error")
            assert.strictEqual(answer.at("error", "param"), "send_at", `${path} ${answer.text}`)
            assert.match(String(answer.at("error", "errors", 0, "message")), says)
          }
        }))
    }

    for (const kind of kinds) {
      const [channel, path, , records] = kind
      it.effect(
        `POST ${path} with send_at is scheduled, uses the quota at once, and is sent within a second of its time`,
        () =>
          Effect.gen(function*() {
            const node = yield* Service
            const sql = yield* SqlClient.SqlClient
            const { accountId, key, received } = yield* makeListener(node, ["email.sent", "message.sent"])
            const answer = yield* schedule(node, { key, path, body: yield* bodyOf(node, key, kind) })
            const record = () => node.request("GET", `${records}/${idOf(answer)}`, { key })
            const before = yield* record()
            assert.deepInclude(before.at("data"), { status: "scheduled", send_at: answer.at("data", "send_at") })
            const listed = yield* node.request("GET", `/v1/${channel}/messages?status=scheduled`, { key })
            assert.isAbove(Number(listed.at("meta", "total")), 0)
            const used =
              yield* sql`select count from usage_daily where account_id = ${accountId} and metric = ${channel}`
            assert.isAbove(Number(used[0]?.["count"]), 0)

            yield* bringForward(channel, whichOf(answer), 1_500)
            const [event] = yield* received(1)
            const rows = yield* sql`select extract(epoch from min(sent_at) - min(send_at))::float8 as lag
            from ${
              sql(channel === "email" ? "email_messages" : "messages")
            } where account_id = ${accountId} and sent_at is not null`
            const lag = Number(rows[0]?.["lag"])
            // Within a second on an idle machine; the machine of the tests may be busy.
            assert.isTrue(lag >= 0 && lag < 30, `sent ${lag} s after its time`)
            assert.isString(event?.event)
            yield* eventually(
              record(),
              ({ at }) => ["sent", "delivered", "read", "completed"].includes(String(at("data", "status")))
            )
          })
      )
    }

    for (const kind of kinds.filter(([channel]) => channel !== "email")) {
      it.effect(
        `POST ${kind[1]} with send_at publishes message.queued when it is due, and not before`,
        () =>
          Effect.gen(function*() {
            const node = yield* Service
            const sql = yield* SqlClient.SqlClient
            const { accountId, key, received } = yield* makeListener(node, ["message.queued"])
            const answer = yield* schedule(node, { key, path: kind[1], body: yield* bodyOf(node, key, kind) })
            assert.deepStrictEqual(yield* sql`select id from events where account_id = ${accountId}`, [])
            yield* bringForward(kind[0], whichOf(answer))
            const [event] = yield* received(1)
            assert.deepInclude(event?.data, { channel: kind[0], status: "queued" })
          })
      )
    }

    it.effect("one email of a batch cannot be rescheduled, and the refusal says to reschedule the batch", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const body = { ...mail, recipients: ["a@people.example", "b@people.example"] }
        const batch = yield* schedule(node, { key, path: "/v1/email/send-bulk", body })
        const listed = yield* node.request("GET", "/v1/email/messages?status=scheduled", { key })
        const path = `/v1/email/messages/${String(listed.at("data", 0, "id"))}`
        const json = { send_at: yield* secondsAhead(7_200) }
        const refused = yield* node.request("PATCH", path, { key, json })
        assertRefused(refused, 422, "validation_error")
        assert.match(refused.text, /reschedule the batch/)
        yield* node.request("POST", `${path}/cancel`, { key })
        assertRefused(yield* node.request("PATCH", path, { key, json }), 409, "message_over")
        const moved = yield* node.request("PATCH", `/v1/email/batches/${idOf(batch)}`, { key, json })
        assert.strictEqual(moved.status, 200, moved.text)
      }))

    it.effect("a mail is dated at its time, and keeps a large text and its files until then", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { key } = yield* makeAccount()
        const html = `<p>${"long ".repeat(2_000)}</p>`
        const attachments = [{ filename: "a.bin", content: Buffer.alloc(9_000, 7).toString("base64") }]
        const to = "dated@people.example"
        const answer = yield* schedule(node, {
          key,
          path: "/v1/email/send",
          body: { to, subject: "s", html, attachments }
        })
        const id = Number(answer.at("data", "id"))
        const [row] = yield* sql`select count(*) filter (where content is null) as shared,
            (select created_at from email_contents where id = ${id}) = (select send_at from email_messages where id = ${id}) as dated
          from email_parts where email_id = ${id}`
        assert.deepStrictEqual(row, { shared: 0, dated: true })
        yield* bringForward("email", { id })
        yield* asking(
          node.request("GET", `/v1/email/messages/${id}`, { key }),
          ({ at }) => at("data", "status") === "sent"
        )
      }))

    it.effect("a mail whose first recipient is suppressed shows its new time", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const email = "gone@people.example"
        yield* node.request("POST", "/v1/email/suppressions", { key, json: { email } })
        const body = { ...mail, to: [email, "here@people.example"] }
        const answer = yield* schedule(node, { key, path: "/v1/email/send", body })
        const path = `/v1/email/messages/${String(answer.at("data", "id"))}`
        const send_at = yield* secondsAhead(86_400)
        const moved = yield* node.request("PATCH", path, { key, json: { send_at } })
        assert.strictEqual(moved.status, 200, moved.text)
        assert.strictEqual(Date.parse(String(moved.at("data", "send_at"))), Date.parse(send_at))
      }))

    it.effect("an address that is suppressed after the request gets no mail", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const email = "left@people.example"
        for (const body of [{ ...mail, to: email }, { ...mail, recipients: [email] }]) {
          const path = "to" in body ? "/v1/email/send" : "/v1/email/send-bulk"
          const answer = yield* schedule(node, { key, path, body })
          yield* node.request("POST", "/v1/email/suppressions", { key, json: { email } })
          yield* bringForward("email", whichOf(answer))
          yield* asking(
            node.request("GET", "/v1/email/messages", { key }),
            ({ at }) => at("data", 0, "status") === "suppressed"
          )
          yield* node.request("DELETE", `/v1/email/suppressions/${email}`, { key })
        }
      }))

    for (const path of ["/v1/email/send", "/v1/email/send-bulk"] as const) {
      it.effect(`POST ${path}: a mail whose domain was removed meanwhile fails with a reason and an event`, () =>
        Effect.gen(function*() {
          const node = yield* Service
          const sql = yield* SqlClient.SqlClient
          const { accountId, key, received } = yield* makeListener(node, ["email.failed"])
          const domain = `d${accountId}.example`
          yield* insertDomain(accountId, domain, { key: dkimKey.pem })
          const body = {
            ...mail,
            from: `us@${domain}`,
            ...(path.endsWith("bulk") ? { recipients: ["c@people.example"] } : { to: "c@people.example" })
          }
          const answer = yield* schedule(node, { key, path, body })
          yield* sql`delete from email_domains where account_id = ${accountId}`
          yield* bringForward("email", whichOf(answer))
          const list = yield* asking(
            node.request("GET", "/v1/email/messages", { key }),
            ({ at }) => at("data", 0, "status") === "failed"
          )
          assert.match(String(list.at("data", 0, "error")), /domain of the sender was not verified/)
          const [event] = yield* received(1)
          assert.deepInclude(event?.data, { to: "c@people.example", error: list.at("data", 0, "error") })
        }))
    }

    for (const kind of kinds.filter(([channel]) => channel !== "email")) {
      it.effect(
        `POST ${kind[1]}: messages of an account whose trial has ended fail with a reason and an event`,
        () =>
          Effect.gen(function*() {
            const node = yield* Service
            const sql = yield* SqlClient.SqlClient
            const { accountId, key, received } = yield* makeListener(node, ["message.failed"])
            const answer = yield* schedule(node, { key, path: kind[1], body: yield* bodyOf(node, key, kind) })
            yield* sql`update accounts set trial_ends_at = now() - interval '1 day' where id = ${accountId}`
            yield* bringForward(kind[0], whichOf(answer))
            const [event] = yield* received(1)
            assert.deepInclude(event?.data, { error_code: "subscription_expired" })
            const record = yield* node.request("GET", `${kind[3]}/${idOf(answer)}`, { key })
            assert.strictEqual(record.at("data", "status"), "failed")
          })
      )
    }

    it.effect("an email of an account whose trial has ended fails with a reason and an event", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key, received } = yield* makeListener(node, ["email.failed"])
        const answer = yield* schedule(node, { key, path: "/v1/email/send", body: { ...mail, to: "d@people.example" } })
        yield* sql`update accounts set trial_ends_at = now() - interval '1 day' where id = ${accountId}`
        yield* bringForward("email", whichOf(answer))
        const record = yield* asking(
          node.request("GET", `/v1/email/messages/${idOf(answer)}`, { key }),
          ({ at }) => at("data", "status") === "failed"
        )
        assert.match(String(record.at("data", "error")), /trial of the account had ended/)
        const [event] = yield* received(1)
        assert.deepInclude(event?.data, { to: "d@people.example", error: record.at("data", "error") })
      }))

    it.effect("an email whose first attempt was in time is sent although the trial ends before the next one", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount()
        const body = { ...mail, to: "defer.f@people.example" }
        const answer = yield* schedule(node, { key, path: "/v1/email/send", body })
        yield* bringForward("email", whichOf(answer))
        yield* eventually(
          Effect.orDie(sql`select from email_messages where account_id = ${accountId} and status = 'queued'
            and attempt_count = 1`),
          (rows) => rows.length === 1
        )
        yield* sql`update accounts set trial_ends_at = now() - interval '1 minute' where id = ${accountId}`
        yield* sql`update email_messages set due_at = now() where account_id = ${accountId}`
        const record = yield* asking(
          node.request("GET", `/v1/email/messages/${idOf(answer)}`, { key }),
          ({ at }) => ["sent", "failed"].includes(String(at("data", "status")))
        )
        assert.deepInclude(record.at("data"), { status: "sent", error: null })
      }))

    it.effect("nothing of a deleted account is sent", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount()
        const to = freshNumber()
        const sms = yield* schedule(node, { key, path: "/v1/sms/send", body: { to, content: "Hello" } })
        const email = yield* schedule(node, { key, path: "/v1/email/send", body: { ...mail, to: "e@people.example" } })
        yield* sql`update accounts set deleted_at = now() where id = ${accountId}`
        yield* bringForward("sms", whichOf(sms))
        yield* bringForward("email", whichOf(email))
        yield* eventually(
          Effect.orDie(sql`select status, error_code from messages where account_id = ${accountId}
            union all select status, error from email_messages where account_id = ${accountId}`),
          (rows) => rows.length === 2 && rows.every(({ status }) => status === "failed")
        )
      }))
  })
})

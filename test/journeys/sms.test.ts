import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { asking } from "../support/bulkMail.ts"
import { makeAccount, makeKey, Service } from "../support/Service.ts"
import { makeListener } from "../support/singleMail.ts"
import { freshNumber, phoneOf, sendSms, smsReaching } from "../support/sms.ts"

const sms = { to: "+250788123456", content: "Hello" }

/** Why it is refused, the body, the parameter named, and part of the message. */
const refused: ReadonlyArray<readonly [what: string, body: Record<string, unknown>, param: string, says: RegExp]> = [
  ["a national number", { to: "0788123456" }, "to", /begin with the country code/],
  ["an impossible number", { to: "+1234567890" }, "to", /not a possible number/],
  ["a number with an extension", { to: "+250788123456;ext=5" }, "to", /only digits/],
  ["a numeric recipient", { to: 250788123456 }, "to", /must be a string/],
  ["two numbers in one string", { to: "+250788123456,+250788123457" }, "to", /only digits/],
  ["no content", { content: undefined }, "content", /is required/],
  ["empty content", { content: "" }, "content", /must not be empty/],
  ["1,601 characters", { content: "a".repeat(1_601) }, "content", /at most 1600 characters/],
  ["eleven segments of GSM", { content: "a".repeat(1_531) }, "content", /10 segments, but takes 11/],
  ["eleven segments of UCS-2", { content: "я".repeat(671) }, "content", /10 segments, but takes 11/],
  ["a lone surrogate", { content: "a\ud83d" }, "content", /well-formed Unicode/],
  ["a NUL", { content: "a\0b" }, "content", /NUL/],
  ["a sender id of twelve characters", { sender_id: "TwelveLetter" }, "sender_id", /3 to 11/],
  ["a sender id with an emoji", { sender_id: "Shop 😀" }, "sender_id", /3 to 11/],
  ["a sender id of two letters", { sender_id: "AB" }, "sender_id", /3 to 11/],
  ["a sender id with a line break", { sender_id: "Shop\nA" }, "sender_id", /3 to 11/]
]

layer(Service.layer({ env: { SANDBOX_SMS_DELAY_MS: "50" } }), { excludeTestServices: true })(
  (it) => {
    describe("single SMS", () => {
      for (const [what, body, param, says] of refused) {
        it.effect(`an SMS with ${what} is refused with 422, and nothing is stored`, () =>
          Effect.gen(function*() {
            const node = yield* Service
            const { key } = yield* makeAccount()
            const answer = yield* node.request("POST", "/v1/sms/send", { key, json: { ...sms, ...body } })
            assertRefused(answer, 422, "validation_error")
            assert.strictEqual(answer.at("error", "param"), param, answer.text)
            assert.match(String(answer.at("error", "errors", 0, "message")), says)
            const list = yield* node.request("GET", "/v1/sms/messages", { key })
            assert.deepStrictEqual([list.at("data"), list.at("meta", "total")], [[], 0])
          }))
      }

      it.effect("a number without its plus is accepted in single and bulk SMS, and shown with it", () =>
        Effect.gen(function*() {
          const node = yield* Service
          const { key } = yield* makeAccount()
          const one = yield* node.request("POST", "/v1/sms/send", { key, json: { ...sms, to: "250788123456" } })
          assert.deepStrictEqual([one.status, one.at("data", "to")], [202, "+250788123456"], one.text)
          const recipients = ["250788123457", { to: "250 788 123 458" }]
          const json = { content: "Hi {{name}}", recipients, variables: { name: "Ada", unused: [1] } }
          const many = yield* node.request("POST", "/v1/sms/send-bulk", { key, json })
          const list = yield* node.request("GET", `/v1/sms/messages?batch_id=${many.at("data", "batch_id")}`, { key })
          const shown = [0, 1].map((index) => [list.at("data", index, "to"), list.at("data", index, "content", "body")])
          assert.sameDeepMembers(shown, [["+250788123457", "Hi Ada"], ["+250788123458", "Hi Ada"]])
        }))

      it.effect("an SMS to a number of no country is refused as unsupported_destination", () =>
        Effect.gen(function*() {
          const node = yield* Service
          const { key } = yield* makeAccount()
          const satellite = yield* node.request("POST", "/v1/sms/send", { key, json: { ...sms, to: "+870773111632" } })
          assertRefused(satellite, 422, "unsupported_destination")
          assert.deepInclude(satellite.at("error"), { param: "to", country: null })
        }))

      it.effect("SMS to unassigned and premium numbers are accepted, because assignments change", () =>
        Effect.gen(function*() {
          const node = yield* Service
          const { key } = yield* makeAccount()
          for (const to of ["+15551234567", "+447700900123", "+19005551234"]) yield* sendSms(node, key, { ...sms, to })
        }))

      it.effect("an SMS reaches the phone, publishes message.sent and message.delivered, and can be read with its cost", () =>
        Effect.gen(function*() {
          const node = yield* Service
          const { key, received } = yield* makeListener(node, ["message.*"])
          const to = freshNumber()
          const answer = yield* node.request("POST", "/v1/sms/send", {
            key,
            json: { to: ` ${to.slice(0, 4)} ${to.slice(4)}`, content: "Muraho €", sender_id: "Shop" }
          })
          assert.strictEqual(answer.status, 202)
          const id = answer.at("data", "message_id")
          assert.deepStrictEqual(answer.json, {
            success: true,
            data: { id, message_id: id, to, status: "queued", send_at: null, segments: 1, cost_usd: 0.045 }
          })
          assert.strictEqual(answer.headers["location"], `/v1/sms/messages/${String(id)}`)
          const [queued, ...events] = yield* received(3)
          assert.deepStrictEqual(
            [queued, ...events].map((event) => event?.event),
            ["message.queued", "message.sent", "message.delivered"]
          )
          const labels = { tags: [], metadata: {}, failover_id: null }
          const common = { channel: "sms", message_id: id, session_id: null, segments: 1, cost_usd: 0.045, ...labels }
          assert.deepStrictEqual(events[0]?.data, { ...common, to, type: "text", status: "sent" })
          const { delivered_at, ...delivered } = events[1]?.data ?? {}
          assert.deepStrictEqual(delivered, { ...common, id, to, status: "delivered" })
          const found = yield* smsReaching(node, { id: Number(id), key, statuses: ["delivered"] })
          assert.deepInclude(found, {
            id,
            channel: "sms",
            session_id: null,
            direction: "out",
            from: "Shop",
            to,
            type: "text",
            content: { body: "Muraho €" },
            status: "delivered",
            segments: 1,
            cost_usd: 0.045,
            batch_id: null,
            read_at: null,
            failed_at: null,
            error_code: null,
            error_message: null,
            delivered_at
          })
          const status = yield* node.request("GET", `/v1/sms/status/${String(id)}`, { key })
          assert.deepStrictEqual(status.at("data"), found)
          const [text] = yield* phoneOf(node, to)
          assert.deepInclude(text, { to, from: "Shop", text: "Muraho €", parts: 1, encoding: "gsm7" })
        }))

      it.effect("an SMS of three segments arrives in three parts as one text and costs three segments", () =>
        Effect.gen(function*() {
          const node = yield* Service
          const { key } = yield* makeAccount()
          const to = freshNumber()
          const content = `${"я".repeat(66)}😀${"я".repeat(66)}`
          const answer = yield* node.request("POST", "/v1/sms/send", { key, json: { to, content } })
          assert.deepInclude(answer.at("data"), { segments: 3, cost_usd: 0.135 })
          const id = Number(answer.at("data", "message_id"))
          yield* smsReaching(node, { id, key, statuses: ["delivered"] })
          const [text] = yield* phoneOf(node, to)
          assert.deepInclude(text, { text: content, parts: 3, parts_received: 3, encoding: "ucs2" })
          const sql = yield* SqlClient.SqlClient
          assert.deepStrictEqual(
            yield* sql`select part_no, parts, status, length(body) as size from sms_parts where message_id = ${id} order by 1`,
            [1, 2, 3].map((part_no) => ({
              part_no,
              parts: 3,
              status: "delivered",
              size: part_no === 3 ? 1 : part_no === 2 ? 66 : 66
            }))
          )
        }))

      it.effect("the sandbox's special numbers fail with their error codes, and message.failed carries them", () =>
        Effect.gen(function*() {
          const node = yield* Service
          const { key, received } = yield* makeListener(node, ["sms.failed", "message.sent"])
          const outcomes = [
            ["+15005550001", "failed", "invalid_destination"],
            ["+15005550002", "failed", "undeliverable"],
            ["+15005550005", "failed", "expired"],
            ["+15005550003", "sent", null]
          ] as const
          for (const [to, status, error_code] of outcomes) {
            const id = yield* sendSms(node, key, { ...sms, to })
            const found = yield* smsReaching(node, { id, key, statuses: [status] })
            assert.deepInclude(found, { status, error_code })
            assert.strictEqual(found["failed_at"] !== null, status === "failed")
          }
          const events = yield* received(6)
          const failures = events.filter(({ event }) => event === "message.failed")
          assert.deepStrictEqual(
            failures.map(({ data }) => data["error_code"]).toSorted(),
            ["expired", "invalid_destination", "undeliverable"]
          )
        }))

      it.effect("a temporarily refused SMS is retried and arrives", () =>
        Effect.gen(function*() {
          const node = yield* Service
          const { key } = yield* makeAccount()
          const id = yield* sendSms(node, key, { ...sms, to: "+15005550004" })
          yield* smsReaching(node, { id, key, statuses: ["delivered"] })
        }))

      it.effect("another account's SMS returns 404 and is not listed", () =>
        Effect.gen(function*() {
          const node = yield* Service
          const { key } = yield* makeAccount()
          const other = yield* makeAccount()
          const id = yield* sendSms(node, key, sms)
          assertRefused(yield* node.request("GET", `/v1/sms/messages/${id}`, { key: other.key }), 404, "not_found")
          const list = yield* node.request("GET", "/v1/sms/messages", { key: other.key })
          assert.strictEqual(list.at("meta", "total"), 0)
        }))

      it.effect("SMS are listed newest first by status, number, time and batch", () =>
        Effect.gen(function*() {
          const node = yield* Service
          const { key } = yield* makeAccount()
          const [a, b] = [freshNumber(), freshNumber()]
          const first = yield* sendSms(node, key, { ...sms, to: a })
          const second = yield* sendSms(node, key, { ...sms, to: b })
          yield* smsReaching(node, { id: first, key, statuses: ["delivered"] })
          yield* smsReaching(node, { id: second, key, statuses: ["delivered"] })
          const ids = (query: string) =>
            Effect.map(node.request("GET", `/v1/sms/messages${query}`, { key }), ({ at }) =>
              (Object(at("data")) as ReadonlyArray<{ readonly id: number }>).map(({ id }) => id))
          assert.deepStrictEqual(yield* ids(""), [second, first])
          const grouped = `${a.slice(0, 4)} ${a.slice(4, 7)}-${a.slice(7)}`
          const spellings = [a, grouped, ` ${a} `, a.slice(1), ` ${grouped.slice(1)} `]
          for (const to of [a, ...spellings.map(encodeURIComponent)]) {
            assert.deepStrictEqual(yield* ids(`?to=${to}`), [first], to)
          }
          assert.deepStrictEqual(yield* ids("?status=failed"), [])
          assert.deepStrictEqual(yield* ids("?status=delivered&direction=out&per_page=1&page=2"), [first])
          assert.deepStrictEqual(yield* ids("?direction=in"), [])
          assert.deepStrictEqual(yield* ids("?from_date=2099-01-01T00:00:00Z"), [])
          assert.deepStrictEqual(yield* ids("?to_date=2099-01-01T00:00:00Z"), [second, first])
          const { created_at } = yield* smsReaching(node, { id: second, key, statuses: ["delivered"] })
          assert.deepStrictEqual(yield* ids(`?from_date=${String(created_at)}`), [second], "inclusive")
          assert.deepStrictEqual(yield* ids(`?to_date=${String(created_at)}`), [first], "exclusive")
          assert.deepStrictEqual(yield* ids("?batch_id=sms_batch_01ARZ3NDEKTSV4RRFFQ69G5FAV"), [])
        }))

      it.effect("an invalid number in the list's filter is refused with 422 and the reason", () =>
        Effect.gen(function*() {
          const node = yield* Service
          const { key } = yield* makeAccount()
          const answers = [
            ["250", /not a possible number/],
            ["bad", /begin with the country code/],
            ["%2B12", /not a possible number/],
            ["", /must not be empty/]
          ] as const
          for (const [to, says] of answers) {
            const answer = yield* node.request("GET", `/v1/sms/messages?to=${to}`, { key })
            assertRefused(answer, 422, "validation_error")
            assert.strictEqual(answer.at("error", "param"), "to")
            assert.match(String(answer.at("error", "errors", 0, "message")), says)
          }
        }))

      it.effect("a repeated request with one Idempotency-Key sends one SMS", () =>
        Effect.gen(function*() {
          const node = yield* Service
          const { key } = yield* makeAccount()
          const post = () =>
            node.request("POST", "/v1/sms/send", { key, json: sms, headers: { "idempotency-key": "one" } })
          const first = yield* post()
          const again = yield* post()
          assert.deepStrictEqual([again.status, again.text], [202, first.text])
          assert.strictEqual(again.headers["idempotency-replayed"], "true")
          assert.strictEqual((yield* node.request("GET", "/v1/sms/messages", { key })).at("meta", "total"), 1)
        }))
    })

    describe("monthly SMS quota", () => {
      const starter = Effect.fnUntraced(function*(used: number) {
        const sql = yield* SqlClient.SqlClient
        const account = yield* makeAccount({ plan: "starter" })
        yield* sql`insert into usage_daily (account_id, day, metric, slot, count, cost_micros)
        values (${account.accountId}, (now() at time zone 'UTC')::date, 'sms', 99, ${used}, 0)`
        return account
      })

      it.effect("Starter includes 100 SMS a month, and a request beyond that is refused whole with the usage", () =>
        Effect.gen(function*() {
          const node = yield* Service
          const sql = yield* SqlClient.SqlClient
          const { accountId, key } = yield* starter(98)
          const post = (path: string, json: unknown) => node.request("POST", `/v1/sms/${path}`, { key, json })
          const recipients = Array.from({ length: 3 }, freshNumber)
          const batch = yield* post("send-bulk", { content: "Hello", recipients })
          assertRefused(batch, 402, "plan_limit_exceeded")
          assert.deepInclude(batch.at("error"), { resource: "sms", limit: 100, current: 98, per: "month" })
          yield* sendSms(node, key, sms)
          yield* sendSms(node, key, { ...sms, content: "a".repeat(161) })
          const beyond = yield* post("send", sms)
          assertRefused(beyond, 402, "plan_limit_exceeded")
          assert.deepInclude(beyond.at("error"), { resource: "sms", limit: 100, current: 100, per: "month" })
          assert.strictEqual((yield* node.request("GET", "/v1/sms/messages", { key })).at("meta", "total"), 2)
          const usage = yield* node.request("GET", "/v1/account/usage", { key })
          assert.include(JSON.stringify(usage.at("data", "quotas")), `"used":100,"remaining":0`)
          const batches = yield* sql`select from message_batches where account_id = ${accountId}`
          assert.strictEqual(batches.length, 0)
        }))

      it.effect("requests that wait for one account's quota do not delay other accounts", () =>
        Effect.gen(function*() {
          const node = yield* Service
          const sql = yield* SqlClient.SqlClient
          const locked = yield* starter(0)
          const others = [yield* starter(0), yield* makeAccount()]
          const isLocked = yield* Deferred.make<void>()
          const done = yield* Deferred.make<void>()
          const holder = yield* Effect.forkChild(sql.withTransaction(Effect.gen(function*() {
            yield* sql`select from accounts where id = ${locked.accountId} for no key update`
            yield* Deferred.succeed(isLocked, undefined)
            yield* Deferred.await(done)
          })))
          yield* Deferred.await(isLocked)
          const waiting = yield* Effect.forkChild(
            Effect.all(Array.from({ length: 3 }, () => sendSms(node, locked.key, sms)), { concurrency: 3 })
          )
          for (const { key } of others) {
            yield* Effect.all(Array.from({ length: 10 }, () => sendSms(node, key, sms)), { concurrency: 10 })
          }
          assert.isUndefined(waiting.pollUnsafe())
          yield* Deferred.succeed(done, undefined)
          yield* Fiber.join(holder)
          assert.strictEqual(new Set(yield* Fiber.join(waiting)).size, 3)
        }))

      it.effect("concurrent requests fill the quota exactly, while other accounts keep sending", () =>
        Effect.gen(function*() {
          const node = yield* Service
          const sql = yield* SqlClient.SqlClient
          const full = yield* starter(93)
          const free = yield* makeAccount()
          const send = (key: string, headers: Record<string, string>) =>
            node.request("POST", "/v1/sms/send", { key, json: sms, headers })
          const answers = yield* Effect.forEach(Array.from({ length: 40 }), (_, index) =>
            Effect.all([
              send(full.key, index % 4 === 0 ? { "idempotency-key": `part-${index}` } : {}),
              send(free.key, {})
              // No more at once than a node takes however slow it is.
            ], { concurrency: 2 }), { concurrency: 16 })
          assert.strictEqual(answers.filter(([{ status }]) => status === 202).length, 7)
          for (const [answer] of answers.filter(([{ status }]) => status !== 202)) {
            assertRefused(answer, 402, "plan_limit_exceeded")
          }
          assert.isTrue(answers.every(([, { status }]) => status === 202))
          const ids = answers.flat().flatMap(({ at, status }) => status === 202 ? [at("data", "message_id")] : [])
          assert.strictEqual(new Set(ids).size, 47)
          for (const [{ accountId }, count, used] of [[full, 7, 100], [free, 40, 40]] as const) {
            const rows = yield* sql`select id from messages where account_id = ${accountId}`
            assert.strictEqual(rows.length, count)
            assert.isTrue(rows.every(({ id }) => ids.includes(Number(id))))
            const [counted] = yield* sql`select
              (sum(count) filter (where metric = 'sms'))::int as sms,
              (sum(count) filter (where metric = 'sms_segments'))::int as segments,
              (sum(cost_micros) filter (where metric = 'sms_segments'))::int as cost,
              (select sum(cost_micros) from messages where account_id = ${accountId})::int as price
            from usage_daily where account_id = ${accountId}`
            assert.deepInclude(counted, { sms: used, segments: count })
            assert.strictEqual(counted?.["cost"], counted?.["price"])
          }
        }))
    })
  }
)

layer(Service.layer({ env: { SANDBOX_SMS_DELAY_MS: "50", SMS_SENDER_IDS: "Shop, +250788000000" } }), {
  excludeTestServices: true
})("bulk SMS", (it) => {
  it.effect("each recipient gets the text with their own values, and the batch counts to its end", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const [ada, bob] = [freshNumber(), freshNumber()]
      const answer = yield* node.request("POST", "/v1/sms/send-bulk", {
        key,
        json: {
          content: "Hello {{name|there}}, {{n}} left",
          recipients: [
            { to: ada, variables: { name: "Ada", n: 1 } },
            { to: bob, variables: { n: "много" } },
            { to: "+15005550001", variables: { n: 0 } }
          ]
        }
      })
      assert.strictEqual(answer.status, 202, answer.text)
      const id = String(answer.at("data", "batch_id"))
      assert.match(id, /^sms_batch_[0-9A-Z]{26}$/)
      assert.deepInclude(answer.at("data"), {
        total_recipients: 3,
        status: "queued",
        segments: 3,
        cost_usd: 0.0979
      })
      assert.strictEqual(answer.headers["location"], `/v1/sms/batches/${id}`)
      const batch = yield* asking(
        node.request("GET", `/v1/sms/batches/${id}`, { key }),
        ({ at }) => typeof at("data", "completed_at") === "string"
      )
      assert.deepInclude(batch.at("data"), {
        batch_id: id,
        status: "completed",
        total: 3,
        queued: 0,
        sent: 2,
        failed: 1,
        suppressed: 0,
        canceled: 0
      })
      assert.deepInclude((yield* phoneOf(node, ada))[0], { text: "Hello Ada, 1 left", from: "Shop" })
      assert.deepInclude((yield* phoneOf(node, bob))[0], { text: "Hello there, много left", encoding: "ucs2" })
      const list = yield* node.request("GET", `/v1/sms/messages?batch_id=${id}`, { key })
      assert.strictEqual(list.at("meta", "total"), 3)
      const idsBy = Effect.fnUntraced(function*(sort: string) {
        const { at } = yield* node.request("GET", `/v1/sms/messages?batch_id=${id}&sort=${sort}`, { key })
        return [0, 1, 2].map((index) => at("data", index, "id"))
      })
      const newest = [0, 1, 2].map((index) => list.at("data", index, "id"))
      assert.deepStrictEqual(yield* idsBy("-created_at"), newest)
      assert.deepStrictEqual(yield* idsBy("created_at"), newest.toReversed())
      const unsorted = yield* node.request("GET", "/v1/sms/messages?sort=to", { key })
      assertRefused(unsorted, 422, "validation_error")
      assert.include(unsorted.text, "sort: must be one of created_at, -created_at")
    }))

  it.effect("a batch with one invalid recipient, value, text or sender id is refused whole", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const post = (json: unknown) => node.request("POST", "/v1/sms/send-bulk", { key, json })
      const to = "+250788123456"
      const refusals = [
        [{ content: "a", recipients: Array.from({ length: 501 }, () => to) }, "recipients"],
        [{ content: "a", recipients: [] }, "recipients"],
        [{ content: "a", recipients: [to, "0788"] }, "recipients[1]"],
        [{ content: "a {{b}}", recipients: [{ to }] }, "recipients[0].variables"],
        [{ content: "a {{b", recipients: [to] }, "content"],
        [{ content: "{{b}}", recipients: [{ to, variables: { b: "x".repeat(1_601) } }] }, "recipients[0].variables"],
        [{ content: "{{b}}", recipients: [{ to, variables: { b: "я".repeat(671) } }] }, "recipients[0].variables"],
        [{ content: "{{b}}", recipients: [{ to, variables: { b: "" } }] }, "recipients[0].variables"],
        [{ content: "a", recipients: [to], sender_id: "Other" }, "sender_id"]
      ] as const
      for (const [json, param] of refusals) {
        const answer = yield* post(json)
        assertRefused(answer, 422, "validation_error")
        assert.match(String(answer.at("error", "param")), new RegExp(`^${param.replaceAll(/[[\]]/g, "\\$&")}`))
      }
      const nowhere = yield* post({ content: "a", recipients: [to, "+870773111632"] })
      assertRefused(nowhere, 422, "unsupported_destination")
      assert.strictEqual(nowhere.at("error", "param"), "recipients[1].to")
      assert.strictEqual((yield* node.request("GET", "/v1/sms/messages", { key })).at("meta", "total"), 0)
    }))

  it.effect("the operator's sender ids are listed and can be used", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const list = yield* node.request("GET", "/v1/sms/sender-ids", { key })
      assert.deepStrictEqual(list.json, {
        data: [
          { sender_id: "Shop", type: "alphanumeric", is_default: true },
          { sender_id: "+250788000000", type: "number", is_default: false }
        ],
        meta: { total: 2, page: 1, per_page: 25, next_cursor: null }
      })
      const to = freshNumber()
      const id = yield* sendSms(node, key, { ...sms, to, sender_id: "+250788000000" })
      yield* smsReaching(node, { id, key, statuses: ["delivered"] })
      assert.deepInclude((yield* phoneOf(node, to))[0], { from: "+250788000000" })
    }))
})

layer(Service.layer({ env: { SANDBOX_SMS_DELAY_MS: "400000" } }), { excludeTestServices: true })(
  "sandbox phones and SMS",
  (it) => {
    it.effect("a sandbox phone reports delivery after SANDBOX_SMS_DELAY_MS", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { key } = yield* makeAccount()
        const to = freshNumber()
        const id = yield* sendSms(node, key, { to, content: "Later" })
        const due = sql`select extract(epoch from receipt_due_at - received_at)::int as seconds
          from sandbox_sms where recipient = ${to}`
        yield* smsReaching(node, { id, key, statuses: ["sent"] })
        assert.deepStrictEqual(yield* due, [{ seconds: 400 }])
        yield* sql`update sandbox_sms set receipt_due_at = now() where recipient = ${to}`
        yield* smsReaching(node, { id, key, statuses: ["delivered"] })
      }))

    it.effect("an SMS that is deleted from the sandbox before its receipt is still reported as delivered", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount()
        const to = freshNumber()
        const id = yield* sendSms(node, key, { to, content: "Later" })
        yield* smsReaching(node, { id, key, statuses: ["sent"] })
        assert.deepStrictEqual((yield* node.request("DELETE", `/sandbox/sms/${id}`)).json, { data: { deleted: 1 } })
        assert.deepStrictEqual(yield* phoneOf(node, to), [])
        const { key: test } = yield* makeKey(accountId, { mode: "test" })
        const testId = yield* sendSms(node, test, { to, content: "Two segments. ".repeat(20) })
        yield* smsReaching(node, { id: testId, key: test, statuses: ["sent"] })
        const clear = node.request("DELETE", "/v1/sandbox/messages", { key: test })
        assert.deepStrictEqual((yield* clear).json, { data: { deleted: 1 } })
        assert.deepStrictEqual((yield* clear).json, { data: { deleted: 0 } })
        const left = yield* node.request("GET", "/v1/sandbox/messages?channel=sms", { key: test })
        assert.strictEqual(left.at("meta", "total"), 0)
        yield* sql`update sandbox_sms set receipt_due_at = now() where recipient = ${to}`
        yield* smsReaching(node, { id, key, statuses: ["delivered"] })
        yield* smsReaching(node, { id: testId, key: test, statuses: ["delivered"] })
      }))
  }
)

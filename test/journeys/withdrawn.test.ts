import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { bringForward, schedule, secondsAhead } from "../support/scheduled.ts"
import { eventually, makeAccount, type RunningNode, Service } from "../support/Service.ts"
import { makeListener } from "../support/singleMail.ts"
import { freshNumber } from "../support/sms.ts"
import { pairedSession, WhatsApp } from "../support/WhatsApp.ts"
import { unpaced } from "../support/whatsAppMessages.ts"

const mail = { subject: "Hello", html: "<p>Hello</p>" }

const channels = ["email", "sms", "whatsapp"] as const
type Channel = (typeof channels)[number]

/** The bodies of a single and of a bulk request, for an account that may send them. */
const bodiesOf = Effect.fnUntraced(function*(node: RunningNode, key: string, channel: Channel) {
  if (channel === "email") {
    const to = ["a@people.example", "b@people.example"]
    return { single: { ...mail, to }, bulk: { ...mail, recipients: to } }
  }
  if (channel === "sms") {
    const content = "a".repeat(200)
    return { single: { to: freshNumber(), content }, bulk: { recipients: [freshNumber(), freshNumber()], content } }
  }
  const { phone } = yield* WhatsApp
  const { id: session_id } = yield* pairedSession(node, key)
  const to = `+${yield* phone}`
  return { single: { session_id, to, content: "Hello" }, bulk: { session_id, recipients: [to, to], content: "Hello" } }
})

/** What the account has used this month. */
const usedBy = Effect.fnUntraced(function*(accountId: number) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`select metric, sum(count)::int as count, sum(cost_micros)::int as cost from usage_daily
    where account_id = ${accountId} and metric <> 'email_sent' group by metric having sum(count) <> 0 or sum(cost_micros) <> 0`
  return rows
}, Effect.orDie)

layer(WhatsApp.layer({ env: { ...unpaced, SANDBOX_SMS_DELAY_MS: "50" } }), {
  excludeTestServices: true
})((it) => {
  describe("messages that are withdrawn", () => {
    for (const channel of channels) {
      it.effect(
        `a scheduled message by ${channel} is canceled once, gives back its quota, and is never sent`,
        () =>
          Effect.gen(function*() {
            const node = yield* Service
            const canceledEvent = channel === "email" ? "email.canceled" : "message.canceled"
            const { accountId, key, received } = yield* makeListener(node, [canceledEvent])
            const { single } = yield* bodiesOf(node, key, channel)
            const answer = yield* schedule(node, { key, path: `/v1/${channel}/send`, body: single })
            const path = `/v1/${channel}/messages/${String(answer.at("data", "id"))}`
            assert.isNotEmpty(yield* usedBy(accountId))
            const canceled = yield* node.request("POST", `${path}/cancel`, { key })
            assert.strictEqual(canceled.status, 200, canceled.text)
            assert.deepInclude(canceled.at("data"), { status: "canceled" })
            assert.isNull(canceled.at("data", "failed_at") ?? null)
            assert.deepStrictEqual(yield* usedBy(accountId), [])
            const events = yield* received(channel === "email" ? 2 : 1)
            assert.isTrue(events.every(({ event }) => event === canceledEvent))
            const again = yield* node.request("POST", `${path}/cancel`, { key })
            assertRefused(again, 409, "message_over")
            assert.strictEqual(again.at("error", "status"), "canceled")
            assertRefused(
              yield* node.request("PATCH", path, { key, json: { send_at: yield* secondsAhead(60) } }),
              409,
              "message_over"
            )
            yield* bringForward(channel, { id: answer.at("data", "id") })
            // A later message is released after an earlier one would have been.
            const later = yield* schedule(node, { key, path: `/v1/${channel}/send`, body: single })
            yield* bringForward(channel, { id: later.at("data", "id") })
            yield* eventually(
              node.request("GET", `/v1/${channel}/messages/${String(later.at("data", "id"))}`, { key }),
              ({ at }) => ["sent", "delivered", "read"].includes(String(at("data", "status")))
            )
            assert.strictEqual((yield* node.request("GET", path, { key })).at("data", "status"), "canceled")
          })
      )

      it.effect(`a scheduled batch by ${channel} is canceled and gives back its quota`, () =>
        Effect.gen(function*() {
          const node = yield* Service
          const { accountId, key } = yield* makeAccount()
          const { bulk } = yield* bodiesOf(node, key, channel)
          const answer = yield* schedule(node, { key, path: `/v1/${channel}/send-bulk`, body: bulk })
          const path = `/v1/${channel}/batches/${String(answer.at("data", "batch_id"))}`
          const canceled = yield* node.request("POST", `${path}/cancel`, { key })
          assert.strictEqual(canceled.status, 200, canceled.text)
          assert.deepInclude(canceled.at("data"), { status: "canceled", canceled: 2, queued: 0 })
          assert.deepStrictEqual(yield* usedBy(accountId), [])
          assertRefused(
            yield* node.request("PATCH", path, { key, json: { send_at: yield* secondsAhead(60) } }),
            409,
            "message_over"
          )
        }))

      it.effect(
        `a message and a batch by ${channel} get another time while they are scheduled`,
        () =>
          Effect.gen(function*() {
            const node = yield* Service
            const { key } = yield* makeAccount()
            const { bulk, single } = yield* bodiesOf(node, key, channel)
            const one = yield* schedule(node, { key, path: `/v1/${channel}/send`, body: single })
            const many = yield* schedule(node, { key, path: `/v1/${channel}/send-bulk`, body: bulk })
            const paths = [
              `/v1/${channel}/messages/${String(one.at("data", "id"))}`,
              `/v1/${channel}/batches/${String(many.at("data", "batch_id"))}`
            ]
            for (const path of paths) {
              const send_at = yield* secondsAhead(7_200)
              const moved = yield* node.request("PATCH", path, { key, json: { send_at } })
              assert.strictEqual(moved.status, 200, moved.text)
              assert.strictEqual(Date.parse(String(moved.at("data", "send_at"))), Date.parse(send_at))
              assert.strictEqual(moved.at("data", "status"), "scheduled")
              for (const seconds of [-60, 5, 61 * 86_400]) {
                const json = { send_at: yield* secondsAhead(seconds) }
                const refused = yield* node.request("PATCH", path, { key, json })
                assertRefused(refused, 422, "validation_error")
                assert.strictEqual(refused.at("error", "param"), "send_at")
                const says = seconds > 60 ? /at most 60 days ahead/ : /at least 10 seconds ahead/
                assert.match(String(refused.at("error", "errors", 0, "message")), says)
              }
            }
            const list = yield* node.request("GET", `/v1/${channel}/messages?status=scheduled`, { key })
            const times = (list.at("data") as ReadonlyArray<Readonly<Record<string, unknown>>>).map((row) =>
              row["send_at"]
            )
            assert.strictEqual(
              times.filter((at) => Date.parse(String(at)) > Date.now() + 7_000_000).length,
              times.length
            )
          })
      )

      it.effect(`the timeline of a message and of a batch by ${channel} tells each change of the time, and the cancellation`, () =>
        Effect.gen(function*() {
          const node = yield* Service
          const { key } = yield* makeAccount()
          const { bulk, single } = yield* bodiesOf(node, key, channel)
          const one = yield* schedule(node, { key, path: `/v1/${channel}/send`, body: single })
          const many = yield* schedule(node, { key, path: `/v1/${channel}/send-bulk`, body: bulk })
          const id = String(one.at("data", "id"))
          const batch = String(many.at("data", "batch_id"))
          const list = yield* node.request("GET", `/v1/messages?batch_id=${batch}`, { key })
          const paths = [
            [`/v1/${channel}/messages/${id}`, `/v1/${channel}/messages/${id}`],
            [`/v1/${channel}/batches/${batch}`, String(list.at("data", 0, "href"))]
          ] as const
          for (const [index, [path, message]] of paths.entries()) {
            const times = [[one, many][index]?.at("data", "send_at")]
            for (const seconds of [7_200, 10_800]) {
              const json = { send_at: yield* secondsAhead(seconds) }
              times.push((yield* node.request("PATCH", path, { key, json })).at("data", "send_at"))
            }
            assert.strictEqual((yield* node.request("POST", `${path}/cancel`, { key })).status, 200)
            const told = yield* eventually(
              node.request("GET", `${message}/timeline`, { key }),
              ({ text }) => text.includes("\"canceled\"")
            )
            const entries = told.at("data") as ReadonlyArray<Readonly<Record<"kind" | "detail", unknown>>>
            assert.deepStrictEqual(
              entries.filter(({ kind }) => kind !== "event" && kind !== "canceled").map(({ detail, kind }) =>
                kind === "accepted" ? kind : [kind, Object(detail).send_at]
              ),
              ["accepted", ["scheduled", times[0]], ["rescheduled", times[1]], ["rescheduled", times[2]]]
            )
            assert.strictEqual(entries.findLast(({ kind }) => kind !== "event")?.kind, "canceled")
          }
        }))

      it.effect(
        `a message by ${channel} that was sent is not canceled, and the answer says what it is`,
        () =>
          Effect.gen(function*() {
            const node = yield* Service
            const { key } = yield* makeAccount()
            const other = yield* makeAccount()
            const { single } = yield* bodiesOf(node, key, channel)
            const answer = yield* node.request("POST", `/v1/${channel}/send`, { key, json: single })
            const path = `/v1/${channel}/messages/${String(answer.at("data", "id"))}`
            yield* eventually(
              node.request("GET", path, { key }),
              ({ at }) => ["sent", "delivered", "read"].includes(String(at("data", "status")))
            )
            const late = yield* node.request("POST", `${path}/cancel`, { key })
            assertRefused(late, 409, "message_over")
            assert.include(["sent", "delivered", "read"], late.at("error", "status"))
            assertRefused(yield* node.request("POST", `${path}/cancel`, { key: other.key }), 404, "not_found")
          })
      )

      it.effect(
        `of a cancel and a hand-over by ${channel} that race one wins, and the answer says which`,
        () =>
          Effect.gen(function*() {
            const node = yield* Service
            const { accountId, key } = yield* makeAccount()
            const { single } = yield* bodiesOf(node, key, channel)
            // A mail to several recipients may be canceled for some of them.
            const json = channel === "email" ? { ...single, to: "a@people.example" } : single
            for (let round = 0; round < 10; round++) {
              const answer = yield* node.request("POST", `/v1/${channel}/send`, { key, json })
              const path = `/v1/${channel}/messages/${String(answer.at("data", "id"))}`
              const { status } = yield* node.request("POST", `${path}/cancel`, { key })
              const final = yield* eventually(
                node.request("GET", path, { key }),
                ({ at }) => !["queued", "scheduled"].includes(String(at("data", "status")))
              )
              assert.strictEqual(status === 200, final.at("data", "status") === "canceled")
              assert.include([200, 409], status)
            }
            const list = yield* node.request("GET", `/v1/${channel}/messages?per_page=100`, { key })
            const rows = list.at("data") as ReadonlyArray<Readonly<Record<string, unknown>>>
            const left = rows.filter(({ status }) => status !== "canceled").length
            const used = yield* usedBy(accountId)
            const count = used.find(({ metric }) => metric === channel)?.["count"] ?? 0
            assert.strictEqual(Number(count), left)
          })
      )
    }
  })
})

import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { asking } from "../support/bulkMail.ts"
import { Relay } from "../support/Relay.ts"
import { makeAccount, Service } from "../support/Service.ts"
import { signedEvent } from "../support/signedEvent.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { askTest, assertPause, create, deliveriesOf, happen, hasten } from "../support/webhookStories.ts"

const events = ["email.bulk_completed"]
const masked = "********"

layer(Relay.layer(), { excludeTestServices: true })("options of a webhook", (it) => {
  it.effect("its headers are on every delivery, and no answer, log or readable column shows their values", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      const receiver = yield* makeWebhookReceiver()
      const headers = { "X-Team": "team-value", Authorization: "Bearer gateway-value" }
      const { answer, id, secret } = yield* create(node, key, { url: receiver.url, events, headers })
      assert.deepStrictEqual(answer.at("data", "headers"), { "X-Team": masked, Authorization: masked })
      yield* happen(node, key)
      const tested = yield* askTest(node, key, { id })
      const requests = yield* receiver.received(2)
      for (const request of requests) {
        assert.deepInclude(request.headers, { "x-team": "team-value", authorization: "Bearer gateway-value" })
        signedEvent(request, secret)
      }
      const path = `/v1/webhooks/${id}`
      const answers = [
        answer,
        tested,
        yield* node.request("GET", path, { key }),
        yield* node.request("GET", "/v1/webhooks", { key }),
        yield* node.request("PUT", path, { key, json: { is_active: true } }),
        yield* node.request("POST", `${path}/rotate-secret`, { key, json: {} }),
        yield* deliveriesOf(node, key, id)
      ]
      const rows = yield* sql`select to_jsonb(w)::text as row, encode(headers, 'escape') as sealed from webhooks w
        where id = ${id}`
      const audit = yield* sql`select data::text as data from audit_entries where target = ${`webhook ${id}`}`
      const everything = [...answers.map(({ text }) => text), JSON.stringify([rows, audit]), ...node.logs].join("\n")
      assert.include(everything, "X-Team")
      assert.notMatch(everything, /team-value|gateway-value/)
    }))

  it.effect("a change replaces all headers, keeps the masked ones, and an empty object removes them", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const receiver = yield* makeWebhookReceiver()
      const { id } = yield* create(node, key, { url: receiver.url, events, headers: { "X-A": "one", "X-B": "two" } })
      const change = (headers: unknown) => node.request("PUT", `/v1/webhooks/${id}`, { key, json: { headers } })
      const sent = Effect.fnUntraced(function*() {
        const count = receiver.requests.length
        yield* askTest(node, key, { id })
        const headers = (yield* receiver.received(count + 1)).at(-1)?.headers
        return ["x-a", "x-b", "x-c"].map((name) => headers?.[name])
      })
      const shown = (yield* node.request("GET", `/v1/webhooks/${id}`, { key })).at("data", "headers")
      assert.deepStrictEqual((yield* change(shown)).at("data", "headers"), shown)
      assert.deepStrictEqual(yield* sent(), ["one", "two", undefined])
      yield* change({ "X-B": masked, "X-C": "three" })
      assert.deepStrictEqual(yield* sent(), [undefined, "two", "three"])
      const unknown = yield* change({ "X-D": masked })
      assert.deepStrictEqual([unknown.status, unknown.at("error", "param")], [422, "headers.X-D"])
      yield* node.request("PUT", `/v1/webhooks/${id}`, { key, json: { events: ["*"] } })
      assert.deepStrictEqual(yield* sent(), [undefined, "two", "three"])
      assert.deepStrictEqual((yield* change({})).at("data", "headers"), {})
      assert.deepStrictEqual(yield* sent(), [undefined, undefined, undefined])
    }))

  it.effect("wrong options are refused, each with its field", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const wrong: ReadonlyArray<readonly [options: Readonly<Record<string, unknown>>, param: string]> = [
        [{ retry_policy: "forever" }, "retry_policy"],
        [{ channels: ["fax"] }, "channels[0]"],
        [{ channels: ["sms", "sms"] }, "channels"],
        [{ tags: ["two words"] }, "tags[0]"],
        [{ tags: ["x".repeat(65)] }, "tags[0]"],
        [{ tags: Array.from({ length: 21 }, (_, index) => `t${index}`) }, "tags"],
        [{ headers: { "X-Service-Event": "x" } }, "headers.X-Service-Event"],
        [{ headers: { "Webhook-Id": "x" } }, "headers.Webhook-Id"],
        [{ headers: { "Transfer-Encoding": "chunked" } }, "headers.Transfer-Encoding"],
        [{ headers: { "X-A": "1\r\nX-B: 2" } }, "headers.X-A"],
        [{ headers: { "X-A": masked } }, "headers.X-A"],
        [{ headers: Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`X-${index}`, "x"])) }, "headers"]
      ]
      for (const [options, param] of wrong) {
        const json = { url: "https://example.com/", events, ...options }
        const { at, status, text } = yield* node.request("POST", "/v1/webhooks", { key, json })
        assert.deepStrictEqual([status, at("error", "param")], [422, param], text)
      }
    }))

  it.effect("a webhook gets the events of its channels only", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const receiver = yield* makeWebhookReceiver()
      const own = (channels: ReadonlyArray<string>) => create(node, key, { url: receiver.url, events: ["*"], channels })
      const [email, sms, all] = [yield* own(["email"]), yield* own(["sms", "whatsapp"]), yield* own([])]
      yield* node.request("POST", "/v1/sms/send", { key, json: { to: "+250788123456", content: "Hello" } })
      yield* happen(node, key)
      const namesOf = Effect.fnUntraced(function*(id: number) {
        const { at } = yield* deliveriesOf(node, key, id)
        return (at("data") as ReadonlyArray<{ readonly event: string }>).map(({ event }) => event.replace(/\..*/, ""))
      })
      yield* asking(
        deliveriesOf(node, key, all.id),
        ({ text }) => text.includes("email.bulk_completed") && text.includes("message.delivered")
      )
      assert.sameMembers([...new Set(yield* namesOf(email.id))], ["email"])
      assert.sameMembers([...new Set(yield* namesOf(sms.id))], ["message"])
      assert.sameMembers([...new Set(yield* namesOf(all.id))], ["email", "message"])
      const changed = yield* node.request("PUT", `/v1/webhooks/${email.id}`, {
        key,
        json: { channels: [], tags: ["a"] }
      })
      assert.deepInclude(changed.at("data"), { channels: [], tags: ["a"] })
      yield* happen(node, key)
      yield* asking(
        deliveriesOf(node, key, all.id, "?event=email.bulk_completed"),
        ({ at }) => at("meta", "total") === 2
      )
      assert.strictEqual(
        (yield* deliveriesOf(node, key, email.id, "?event=email.bulk_completed")).at("meta", "total"),
        1
      )
    }))

  it.effect("a webhook with tags gets the events of messages that have any of them", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const receiver = yield* makeWebhookReceiver()
      const own = (tags: ReadonlyArray<string>) =>
        create(node, key, { url: receiver.url, events: ["message.delivered"], tags })
      const [some, all] = [yield* own(["booking", "receipt"]), yield* own([])]
      const send = Effect.fnUntraced(function*(tags: ReadonlyArray<string>) {
        const json = { to: "+250788123456", content: "Hello", tags }
        return Number((yield* node.request("POST", "/v1/sms/send", { key, json })).at("data", "message_id"))
      })
      const wanted = [yield* send(["receipt"]), yield* send(["other", "booking"])]
      const others = [yield* send(["other"]), yield* send([])]
      const gotBy = Effect.fnUntraced(function*(id: number, count: number) {
        const list = yield* asking(deliveriesOf(node, key, id), ({ at }) => at("meta", "total") === count)
        const rows = list.at("data") as ReadonlyArray<{ readonly id: number }>
        const details = yield* Effect.forEach(
          rows,
          (row) => node.request("GET", `/v1/webhooks/${id}/deliveries/${row.id}`, { key })
        )
        return details.map(({ at }) => Number(at("data", "payload", "data", "message_id")))
      })
      assert.sameMembers(yield* gotBy(all.id, 4), [...wanted, ...others])
      assert.sameMembers(yield* gotBy(some.id, 2), wanted)
    }))

  it.effect("with the extended policy a delivery survives an outage of a day and arrives at its ninth attempt", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const receiver = yield* makeWebhookReceiver({ script: [...Array.from({ length: 8 }, () => 503), 200] })
      const { answer, id } = yield* create(node, key, { url: receiver.url, events, retry_policy: "extended" })
      assert.strictEqual(answer.at("data", "retry_policy"), "extended")
      yield* happen(node, key)
      const hour = 3_600
      const [first, second] = yield* receiver.received(2, longer.turn)
      assert.isAtLeast((second?.arrivedAtMillis ?? 0) - (first?.arrivedAtMillis ?? 0), 5_000)
      const delays = [30, 120, 600, hour, 3 * hour, 8 * hour, 16 * hour]
      for (const [index, delay] of delays.entries()) {
        yield* asking(deliveriesOf(node, key, id), ({ at }) => at("data", 0, "attempt_count") === index + 2)
        yield* assertPause(id, delay)
        yield* hasten(id)
      }
      const done = yield* asking(deliveriesOf(node, key, id), ({ at }) => at("data", 0, "status") === "delivered")
      assert.deepInclude(done.at("data", 0), { attempt_count: 9, error: null })
      assert.deepStrictEqual(
        receiver.requests.map(({ headers }) => Number(headers["x-service-attempt"])),
        [1, 2, 3, 4, 5, 6, 7, 8, 9]
      )
      assert.deepInclude((yield* node.request("GET", `/v1/webhooks/${id}`, { key })).at("data"), {
        status: "active",
        failure_count: 0
      })
    }))
})

import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { asking } from "../support/bulkMail.ts"
import { Relay } from "../support/Relay.ts"
import { type Answer, makeAccount, type RunningNode, Service } from "../support/Service.ts"
import { signedEvent } from "../support/signedEvent.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { askAgain, askTest, create, deliveriesOf, happen, hasten } from "../support/webhookStories.ts"

const events = ["email.bulk_completed"]

/** The webhook's newest delivery, once it is in this state. */
const newest = Effect.fnUntraced(function*(node: RunningNode, key: string, id: number, status: string) {
  const { at } = yield* asking(deliveriesOf(node, key, id), ({ at }) => at("data", 0, "status") === status)
  return at("data", 0, "id")
})

const refusal = ({ at, status }: Answer) => [status, at("error", "type"), at("error", "code")]

layer(Relay.layer(), { excludeTestServices: true })("webhook redelivery", (it) => {
  it.effect("a delivered event is sent again with the same event id and bytes as a new delivery", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const receiver = yield* makeWebhookReceiver()
      const { id, secret } = yield* create(node, key, { url: receiver.url, events })
      yield* happen(node, key)
      const first = yield* newest(node, key, id, "delivered")
      const again = yield* askAgain(node, key, id, first)
      assert.deepStrictEqual([again.status, again.at("success")], [202, true], again.text)
      assert.deepInclude(again.at("data"), {
        webhook_id: id,
        event: "email.bulk_completed",
        status: "pending",
        attempt_count: 0,
        is_test: false,
        completed_at: null,
        attempts: []
      })
      const second = again.at("data", "id")
      assert.isAbove(Number(second), Number(first))
      const requests = yield* receiver.received(2)
      const sent = requests.map((request) => signedEvent(request, secret))
      assert.deepStrictEqual(sent[1], sent[0])
      assert.deepStrictEqual(again.at("data", "payload"), sent[0])
      assert.strictEqual(again.at("data", "event_id"), sent[0]?.id)
      assert.deepStrictEqual(requests[1]?.body, requests[0]?.body)
      assert.deepStrictEqual(
        requests.map(({ headers }) => headers["x-service-delivery-id"]),
        [first, second].map(String)
      )
      assert.deepStrictEqual(requests.map(({ headers }) => headers["x-service-attempt"]), ["1", "1"])
      assert.isUndefined(requests[1]?.headers["x-service-test"])
      assert.strictEqual(yield* newest(node, key, id, "delivered"), second)
      assert.strictEqual((yield* deliveriesOf(node, key, id, "?status=delivered")).at("meta", "total"), 2)
    }))

  it.effect("a failed delivery is sent again with a new set of attempts", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const receiver = yield* makeWebhookReceiver({ script: [500, 500, 500, 500, 200] })
      const { id } = yield* create(node, key, { url: receiver.url, events })
      yield* happen(node, key)
      yield* asking(
        Effect.andThen(hasten(id), deliveriesOf(node, key, id)),
        ({ at }) => at("data", 0, "status") === "failed"
      )
      const failed = yield* newest(node, key, id, "failed")
      const again = yield* askAgain(node, key, id, failed)
      assert.strictEqual(again.status, 202)
      assert.strictEqual(yield* newest(node, key, id, "delivered"), again.at("data", "id"))
      const [, , , , fifth] = yield* receiver.received(5)
      assert.strictEqual(fifth?.headers["x-service-attempt"], "1")
    }))

  it.effect("a skipped delivery can be resent once the webhook is active, and gets 409 before", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      const receiver = yield* makeWebhookReceiver()
      const { id, secret } = yield* create(node, key, { url: receiver.url, events })
      yield* sql`update webhooks set unhealthy_reason = 'failing' where id = ${id}`
      yield* happen(node, key)
      const skipped = yield* newest(node, key, id, "skipped")
      const unhealthy = yield* askAgain(node, key, id, skipped)
      assert.deepStrictEqual(refusal(unhealthy), [409, "webhook_not_active", 4097])
      assert.strictEqual(unhealthy.at("error", "status"), "unhealthy")
      assert.match(String(unhealthy.at("error", "message")), /PUT with is_active: true/)
      const change = (is_active: boolean) => node.request("PUT", `/v1/webhooks/${id}`, { key, json: { is_active } })
      yield* change(true)
      yield* change(false)
      const disabled = yield* askAgain(node, key, id, skipped)
      assert.deepStrictEqual(refusal(disabled), [409, "webhook_not_active", 4097])
      assert.strictEqual(disabled.at("error", "status"), "disabled")
      assert.strictEqual(receiver.requests.length, 0)
      yield* change(true)
      const again = yield* askAgain(node, key, id, skipped)
      assert.strictEqual(again.status, 202)
      const [request] = yield* receiver.received(1)
      assert.isDefined(request)
      assert.deepStrictEqual(signedEvent(request, secret), again.at("data", "payload"))
    }))

  it.effect("a delivery that waits for its retry can be resent meanwhile", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const receiver = yield* makeWebhookReceiver({ script: [500, 200] })
      const { id } = yield* create(node, key, { url: receiver.url, events })
      yield* happen(node, key)
      const waiting = yield* newest(node, key, id, "retrying")
      const sql = yield* SqlClient.SqlClient
      yield* sql`update webhook_queue set due_at = now() + interval '1 hour' where webhook_id = ${id} and status = 'retrying'`
      const again = yield* askAgain(node, key, id, waiting)
      assert.strictEqual(again.status, 202)
      assert.strictEqual(yield* newest(node, key, id, "delivered"), again.at("data", "id"))
      const listed = yield* deliveriesOf(node, key, id)
      assert.deepStrictEqual([0, 1].map((row) => listed.at("data", row, "status")), ["delivered", "retrying"])
      assert.strictEqual(listed.at("data", 0, "event_id"), listed.at("data", 1, "event_id"))
    }))

  it.effect("a resent test stays a test: one attempt, marked as a test, and not counted as a failure", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const receiver = yield* makeWebhookReceiver({ script: [500] })
      const { id } = yield* create(node, key, { url: receiver.url, events })
      const tested = yield* askTest(node, key, { id })
      const again = yield* askAgain(node, key, id, tested.at("data", "id"))
      assert.deepStrictEqual([again.status, again.at("data", "is_test")], [202, true])
      assert.strictEqual(yield* newest(node, key, id, "failed"), again.at("data", "id"))
      const [first, second, ...more] = yield* receiver.received(2)
      assert.deepStrictEqual(more, [])
      assert.deepStrictEqual(second?.body, first?.body)
      assert.deepStrictEqual([first, second].map((request) => request?.headers["x-service-test"]), ["true", "true"])
      const row = (yield* deliveriesOf(node, key, id)).at("data", 0)
      assert.deepInclude(row, { is_test: true, attempt_count: 1, next_attempt_at: null, error: "http_status" })
      assert.strictEqual((yield* node.request("GET", `/v1/webhooks/${id}`, { key })).at("data", "failure_count"), 0)
    }))

  it.effect("a delivery whose payload has expired gets 410", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      const receiver = yield* makeWebhookReceiver()
      const { id } = yield* create(node, key, { url: receiver.url, events })
      const tested = yield* askTest(node, key, { id })
      yield* sql`delete from events where id = ${String(tested.at("data", "event_id"))}`
      const again = yield* askAgain(node, key, id, tested.at("data", "id"))
      assert.deepStrictEqual(refusal(again), [410, "event_expired", 4101])
      const listed = yield* deliveriesOf(node, key, id)
      assert.strictEqual(listed.at("meta", "total"), 1)
    }))

  it.effect("only the owner can resend under the right webhook, and once for an Idempotency-Key", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const receiver = yield* makeWebhookReceiver()
      const [own, other] = [
        yield* create(node, key, { url: receiver.url, events }),
        yield* create(node, key, { url: receiver.url, events })
      ]
      const delivery = (yield* askTest(node, key, { id: own.id })).at("data", "id")
      const stranger = (yield* makeAccount()).key
      for (
        const [asker, id, which] of [[stranger, own.id, delivery], [key, other.id, delivery], [
          key,
          own.id,
          1e9
        ]] as const
      ) assert.deepStrictEqual(refusal(yield* askAgain(node, asker, id, which)), [404, "not_found", 4040])
      const once = node.request("POST", `/v1/webhooks/${own.id}/deliveries/${String(delivery)}/redeliver`, {
        key,
        headers: { "idempotency-key": "again-1" }
      })
      const [first, repeated] = [yield* once, yield* once]
      assert.deepStrictEqual([first.status, repeated.status], [202, 202])
      assert.deepStrictEqual([repeated.headers["idempotency-replayed"], repeated.text], ["true", first.text])
      yield* newest(node, key, own.id, "delivered")
      assert.strictEqual((yield* deliveriesOf(node, key, own.id)).at("meta", "total"), 2)
    }))
})

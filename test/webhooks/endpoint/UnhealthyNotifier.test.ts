import { assert, describe, it } from "@effect/vitest"
import { WebhookId } from "../../../src/values/Ids.ts"
import { Timestamp } from "../../../src/values/Timestamp.ts"
import { type Fallen, unhealthyNotice } from "../../../src/webhooks/endpoint/unhealthyNotice.ts"

const fallen: Fallen = {
  id: WebhookId.make(12),
  reason: "failing",
  url: "https://hooks.example:8443/in/mail?token=secret#part",
  failure_count: 10,
  failing_since: Timestamp.make("2030-01-31T08:00:59.999999Z"),
  fallen_at: Timestamp.make("2030-01-31T09:01:00.000000Z")
}

const told = (change: Partial<Fallen> = {}) =>
  unhealthyNotice({ ...fallen, ...change }, { webhookPendingLimit: 100_000, eventRetentionDays: 7 })

describe("the notice of an unhealthy webhook", () => {
  it("says which, since when, why, what happens now and what to do", () => {
    assert.deepStrictEqual(told(), {
      subject: "Webhook 12 is unhealthy: its deliveries keep failing",
      body: `Your webhook 12 at https://hooks.example:8443/in/mail is unhealthy since 2030-01-31 09:01 UTC.

Why: 10 deliveries in a row used up all attempts, and none has succeeded since 2030-01-31 08:00 UTC.

What happens now: new events are recorded in the delivery history as skipped and not sent. What still waited ends as \
skipped, too.

What to do: repair the endpoint, then make the webhook active again:
PUT /v1/webhooks/12 {"is_active": true}

Nothing that was skipped is sent by itself. See what it was, and send again what you need, for as long as payloads are \
kept (7 days):
GET /v1/webhooks/12/deliveries?status=skipped
POST /v1/webhooks/12/deliveries/{delivery_id}/redeliver`
    })
  })

  it("shows nothing of the URL behind its path, nor who may enter", () => {
    for (const reason of ["failing", "gone", "backlog_full"] as const) {
      const { body, subject } = told({ reason, url: "https://user:secret@hooks.example/in?key=secret#secret" })
      assert.include(body, " https://hooks.example/in is ")
      assert.notInclude(subject + body, "secret")
    }
  })

  it("says of an endpoint that is gone what it answered", () => {
    const { body, subject } = told({ reason: "gone" })
    assert.strictEqual(subject, "Webhook 12 is unhealthy: its endpoint answers 410 Gone")
    assert.include(body, "Why: the endpoint answered every attempt of a delivery with 410 Gone")
    assert.include(body, "PUT /v1/webhooks/12 {\"is_active\": true}")
  })

  it("says of a backlog how many wait, and that it ends by itself", () => {
    const { body, subject } = told({ reason: "backlog_full" })
    assert.strictEqual(subject, "Webhook 12 is unhealthy: too many events wait for it")
    assert.include(body, "Why: 100,000 events or more wait for their first attempt")
    assert.include(body, "When fewer than 50,000 wait, the webhook becomes active again by itself.")
    assert.notInclude(body, "PUT ")
  })

  it("counts one as one", () => {
    assert.include(told({ failure_count: 1 }).body, "Why: 1 delivery used up all attempts")
  })
})

import { assert, describe, it } from "@effect/vitest"
import { WebhookId } from "../../../src/values/Ids.ts"
import { Timestamp } from "../../../src/values/Timestamp.ts"
import { unhealthyNotice, type UnhealthyWebhook } from "../../../src/webhooks/endpoint/UnhealthyNotifier.ts"

const webhook: UnhealthyWebhook = {
  id: WebhookId.make(12),
  reason: "failing",
  url: "https://hooks.example:8443/in/mail?token=secret#part",
  failure_count: 10,
  failing_since: Timestamp.make("2030-01-31T08:00:59.999999Z"),
  unhealthy_since: Timestamp.make("2030-01-31T09:01:00.000000Z")
}

const noticeOf = (change: Partial<UnhealthyWebhook> = {}) =>
  unhealthyNotice({ ...webhook, ...change }, { webhookPendingLimit: 100_000, eventRetentionDays: 7 })

describe("unhealthyNotice", () => {
  it("names the webhook, since when, why, the consequences and what to do", () => {
    assert.deepStrictEqual(noticeOf(), {
      subject: "Webhook 12 is unhealthy: its deliveries keep failing",
      body: `Your webhook 12 at https://hooks.example:8443/in/mail has been unhealthy since 2030-01-31 09:01 UTC.

Why: 10 deliveries in a row used up all attempts, and none has succeeded since 2030-01-31 08:00 UTC.

What happens now: new events are recorded in the delivery history as skipped and are not sent. Deliveries that were \
still waiting are skipped as well.

What to do: repair the endpoint, then make the webhook active again:
PUT /v1/webhooks/12 {"is_active": true}

Skipped events are not sent by themselves. Recover all of them once the webhook is active, with a time before the \
first failure, for as long as payloads are kept (7 days):
POST /v1/webhooks/12/recover {"since": "TIME"}

Or list them, and redeliver those that you need:
GET /v1/webhooks/12/deliveries?status=skipped
POST /v1/webhooks/12/deliveries/{delivery_id}/redeliver`
    })
  })

  it("hides the credentials, query and fragment of the URL", () => {
    for (const reason of ["failing", "gone", "backlog_full"] as const) {
      const { body, subject } = noticeOf({ reason, url: "https://user:secret@hooks.example/in?key=secret#secret" })
      assert.include(body, " https://hooks.example/in has ")
      assert.notInclude(subject + body, "secret")
    }
  })

  it("names 410 Gone as the reason of a gone endpoint", () => {
    const { body, subject } = noticeOf({ reason: "gone" })
    assert.strictEqual(subject, "Webhook 12 is unhealthy: its endpoint answers 410 Gone")
    assert.include(body, "Why: the endpoint answered every attempt of a delivery with 410 Gone")
    assert.include(body, "PUT /v1/webhooks/12 {\"is_active\": true}")
  })

  it("shows the size of a backlog and when the webhook becomes active by itself", () => {
    const { body, subject } = noticeOf({ reason: "backlog_full" })
    assert.strictEqual(subject, "Webhook 12 is unhealthy: its backlog is full")
    assert.include(body, "Why: 100,000 events or more wait for an attempt")
    assert.include(body, "When fewer than 50,000 wait, the webhook becomes active again by itself.")
    assert.notInclude(body, "PUT ")
  })

  it("uses the singular for one delivery", () => {
    assert.include(noticeOf({ failure_count: 1 }).body, "Why: 1 delivery used up all attempts")
  })
})

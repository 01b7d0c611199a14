import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { explain, type MessageFacts } from "../../src/messages/Explanation.ts"
import { AnyStatus, SummaryChannel } from "../../src/messages/MessageSummary.ts"

const facts: MessageFacts = { channel: "email", status: "sent", errorCode: null, error: null, bounceType: null }

const Facts = Schema.Struct({
  channel: SummaryChannel,
  status: AnyStatus,
  errorCode: Schema.NullOr(Schema.String),
  error: Schema.NullOr(Schema.String),
  bounceType: Schema.NullOr(Schema.Literals(["hard", "soft"]))
})

describe("the explanation of a message", () => {
  it.prop("exists for every record, and repeats only words that the record has", [Facts], ([given]) => {
    const { code, reason } = explain(given, false)
    assert.match(code, /^[a-z_]+$/)
    assert.include([null, given.error], reason)
    assert.notStrictEqual(reason, "")
  })

  it.prop("is the status of a message that arrived or was canceled", [Facts], ([given]) => {
    const { code } = explain(given, false)
    if (["delivered", "opened", "clicked", "read", "received", "canceled"].includes(given.status)) {
      assert.strictEqual(code, given.status)
    }
  })

  it("tells a message that was not tried from one whose attempt failed", () => {
    assert.strictEqual(explain({ ...facts, status: "queued" }, false).code, "waits")
    assert.deepStrictEqual(explain({ ...facts, status: "queued", error: "452 4.2.2 Mailbox full" }, false), {
      code: "deferred",
      reason: "452 4.2.2 Mailbox full"
    })
  })

  it("says of a waiting email or SMS, and of no other message, that its relay or carrier is away", () => {
    const of = (channel: SummaryChannel, status: AnyStatus) => explain({ ...facts, channel, status }, true).code
    assert.deepStrictEqual(
      [
        of("email", "queued"),
        of("sms", "queued"),
        of("whatsapp", "queued"),
        of("email", "sent"),
        of("sms", "scheduled")
      ],
      ["relay_away", "carrier_away", "waits", "accepted", "scheduled"]
    )
  })

  it("tells a refusal for good from one that took too long", () => {
    assert.strictEqual(explain({ ...facts, status: "bounced", bounceType: "hard" }, false).code, "bounced")
    assert.strictEqual(explain({ ...facts, status: "bounced", bounceType: "soft" }, false).code, "refused_for_now")
  })

  it("knows the service's own codes, and takes all others for a refusal of the other side", () => {
    const of = (errorCode: string | null) => explain({ ...facts, status: "failed", errorCode }, false).code
    assert.deepStrictEqual(
      ["recipient_not_on_whatsapp", "session_logged_out", "media_too_large", "expired", "not_acknowledged"].map(of),
      ["not_on_channel", "session_gone", "media", "expired", "unconfirmed"]
    )
    assert.deepStrictEqual(["463", "rejected", "", null].map(of), ["refused", "refused", "refused", "refused"])
  })
})

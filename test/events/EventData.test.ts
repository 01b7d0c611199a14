import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { EventData, exampleOf } from "../../src/events/EventData.ts"
import { eventNames, topics } from "../../src/events/EventNames.ts"

/** The fields of spec 6.5, and those of the service's contract for email, SMS and codes. */
const fields: ReadonlyArray<readonly [keyof typeof EventData, "whatsapp" | "sms" | undefined, string]> = [
  ["message.received", "whatsapp", "channel content from group_id lid message_id received_at session_id type"],
  ["message.sent", "whatsapp", "channel failover_id message_id metadata session_id status tags to type"],
  ["message.sent", "sms", "channel cost_usd failover_id message_id metadata segments session_id status tags to type"],
  ["message.delivered", "whatsapp", "channel delivered_at failover_id message_id metadata session_id tags"],
  [
    "message.delivered",
    "sms",
    "channel cost_usd delivered_at failover_id id message_id metadata segments session_id status tags to"
  ],
  ["message.read", "whatsapp", "channel failover_id message_id metadata read_at session_id tags"],
  ["message.failed", "whatsapp", "channel error_code error_message failover_id message_id metadata session_id tags"],
  ["session.connected", undefined, "phone_number session_id"],
  ["session.disconnected", undefined, "reason reconnecting session_id"],
  ["session.qr_updated", undefined, "qr_code session_id"],
  ["group.participant_added", undefined, "added_by group_id participant session_id"],
  ["group.participant_removed", undefined, "group_id participant removed_by session_id"],
  ["email.sent", undefined, "batch_id failover_id id metadata sent_at subject tags to"],
  ["email.opened", undefined, "batch_id failover_id id machine metadata opened_at subject tags to"],
  ["email.clicked", undefined, "batch_id bot clicked_at failover_id id metadata subject tags to url"],
  ["email.bounced", undefined, "batch_id bounce_type bounced_at error failover_id id metadata subject tags to"],
  ["email.bulk_completed", undefined, "batch_id canceled completed_at failed metadata sent suppressed tags total"],
  ["verify.completed", undefined, "channel to verification_id verified_at"],
  ["verify.expired", undefined, "channel expired_at to verification_id"]
]

describe("EventData", () => {
  it("every event has a schema", () => {
    assert.sameMembers(Object.keys(EventData), [...eventNames])
  })

  it("every topic has an example that its schema reads and writes unchanged", () => {
    for (const topic of topics) {
      const example: unknown = exampleOf(topic)
      const schema: Schema.Codec<unknown, unknown> = EventData[topic.event]
      const written = Schema.encodeUnknownSync(schema)(example)
      assert.deepStrictEqual(JSON.parse(JSON.stringify(written)), written)
      assert.deepStrictEqual(Schema.decodeUnknownSync(schema)(written), example)
    }
  })

  it("an example belongs to the requested channel", () => {
    assert.deepInclude(exampleOf({ event: "message.sent", channel: "sms" }), { channel: "sms", session_id: null })
    assert.deepInclude(exampleOf({ event: "message.sent", channel: "whatsapp" }), { channel: "whatsapp" })
    assert.deepInclude(exampleOf({ event: "message.sent" }), { channel: "whatsapp" })
  })

  it("times are written in UTC with six decimals", () => {
    for (const topic of topics) {
      for (const [name, value] of Object.entries(exampleOf(topic))) {
        if (name.endsWith("_at")) assert.match(String(value), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/, name)
      }
    }
  })

  for (const [event, channel, names] of fields) {
    it(`the data of ${event}${channel === undefined ? "" : ` by ${channel}`} has the fields ${names}`, () => {
      const example = exampleOf(channel === undefined ? { event } : { event, channel })
      assert.deepStrictEqual(Object.keys(example).toSorted(), names.split(" "))
    })
  }

  it("an SMS with a session and a WhatsApp message without one are refused", () => {
    const decode = Schema.decodeUnknownResult(EventData["message.sent"])
    assert.strictEqual(
      decode({ ...exampleOf({ event: "message.sent", channel: "sms" }), session_id: 1 })._tag,
      "Failure"
    )
    assert.strictEqual(decode({ ...exampleOf({ event: "message.sent" }), session_id: null })._tag, "Failure")
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { exampleOf } from "../../src/events/EventData.ts"
import { EventChannel, type EventFilter, passes } from "../../src/events/EventFilter.ts"
import { topics } from "../../src/events/EventNames.ts"

const all: EventFilter = { channels: [], tags: [] }
const tagged = (...tags: ReadonlyArray<string>) => ({ event: "email.sent", data: { id: 1, tags } } as const)

describe("EventFilter", () => {
  it("an empty filter lets every event through", () => {
    for (const topic of topics) assert.isTrue(passes(all, { ...topic, data: exampleOf(topic) }), topic.event)
  })

  it("a filter of channels lets events of these channels through, by their name or their data", () => {
    const passing = (channel: EventChannel) =>
      topics.filter((topic) => passes({ ...all, channels: [channel] }, { ...topic, data: exampleOf(topic) }))
        .map(({ event }) => event)
    assert.isTrue(passing("email").every((event) => event.startsWith("email.")))
    assert.includeMembers(passing("email"), ["email.sent", "email.bulk_completed"])
    assert.includeMembers(passing("whatsapp"), ["message.received", "session.connected", "group.participant_added"])
    assert.notIncludeMembers(passing("whatsapp"), ["email.sent", "verify.completed"])
    assert.includeMembers(passing("sms"), ["message.sent", "message.delivered", "verify.completed"])
    assert.isFalse(passing("sms").includes("message.received"))
  })

  it("a message event of several channels passes every filter of channels", () => {
    const whole = { event: "message.delivered", data: { id: "msg_1", to: "+15550100200" } } as const
    for (const channel of EventChannel.literals) assert.isTrue(passes({ ...all, channels: [channel] }, whole))
  })

  it("a filter of tags lets an event through that has one of them, and none without tags", () => {
    const filter = { ...all, tags: ["booking", "receipt"] }
    assert.isTrue(passes(filter, tagged("other", "receipt")))
    assert.isFalse(passes(filter, tagged("other")))
    assert.isFalse(passes(filter, tagged()))
    assert.isFalse(passes(filter, { event: "email.sent", data: { id: 1 } }))
  })

  it("both filters have to match", () => {
    const filter: EventFilter = { channels: ["sms"], tags: ["booking"] }
    assert.isFalse(passes(filter, tagged("booking")))
    assert.isTrue(passes(filter, { event: "message.sent", channel: "sms", data: { tags: ["booking"] } }))
  })

  it.prop(
    "an event passes more filters the fewer they name",
    [Schema.Array(Schema.Literals(["a", "b", "c"]))],
    ([tags]) => {
      const event = tagged(...tags)
      assert.strictEqual(passes({ ...all, tags: ["a", "b"] }, event), tags.includes("a") || tags.includes("b"))
    }
  )
})

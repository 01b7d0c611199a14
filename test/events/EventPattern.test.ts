import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import {
  eventAliases,
  type EventName,
  eventNames,
  type MessageChannel,
  resolveTopic,
  topics
} from "../../src/events/EventNames.ts"
import { compile, EventSubscription, knownPatterns, matches, patternsOf } from "../../src/events/EventPattern.ts"

const decode = (events: unknown) => Schema.decodeUnknownResult(EventSubscription)(events, { errors: "all" })

/** Every name of the event in spec 6.4. */
const namesOf = (event: EventName, channel: MessageChannel | undefined): ReadonlyArray<string> => {
  if (channel === "sms") return [event, event.replace("message.", "sms.")]
  const ofWhatsApp = ["message.", "session.", "group."].some((prefix) => event.startsWith(prefix))
  return ofWhatsApp ? [event, `whatsapp.${event}`] : [event]
}

const model = (patterns: ReadonlyArray<string>, names: ReadonlyArray<string>): boolean =>
  patterns.some((pattern) =>
    pattern === "*"
    || names.some((name) => pattern.endsWith(".*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern)
  )

const listC = [
  "sms.delivered",
  "sms.failed",
  "whatsapp.message.sent",
  "whatsapp.message.delivered",
  "whatsapp.message.read",
  "whatsapp.message.received",
  "whatsapp.session.connected",
  "whatsapp.session.disconnected",
  "email.delivered",
  "email.opened",
  "email.clicked",
  "email.bounced"
]

const Pattern = Schema.Literals(knownPatterns)
const DomainEvent = Schema.Literals(topics.map(({ channel, event }) => `${event}@${channel ?? ""}`))

describe("EventPattern", () => {
  it("the catalogue has each event of lists A and B once, and every name of list C", () => {
    assert.strictEqual(new Set(eventNames).size, 28)
    for (const name of listC) assert.isDefined(resolveTopic(name), name)
  })

  it("the document shows the form of event names, and every known name has it", () => {
    const { schema } = Schema.toJsonSchemaDocument(EventSubscription)
    const form = new RegExp(String(Object(schema["items"])["pattern"]))
    for (const name of knownPatterns) assert.match(name, form)
    for (const name of ["", ".*", "message.", "message.*.sent", "Message", "message sent", "**"]) {
      assert.notMatch(name, form)
    }
  })

  it("patternsOf names exactly the patterns that match a topic", () => {
    for (const topic of topics) {
      const patterns = patternsOf(topic)
      assert.deepStrictEqual(patterns, knownPatterns.filter((pattern) => matches(compile([pattern]), topic)))
      assert.includeMembers([...patterns], ["*", topic.event])
    }
    assert.sameMembers(
      [...patternsOf({ event: "message.queued", channel: "sms" })],
      ["*", "message.*", "message.queued", "sms.*", "sms.queued"]
    )
  })

  it("an alias subscribes to the list A name on its channel only", () => {
    const pattern = compile(["whatsapp.message.sent", "sms.delivered"])
    assert.isTrue(matches(pattern, { event: "message.sent", channel: "whatsapp" }))
    assert.isFalse(matches(pattern, { event: "message.sent", channel: "sms" }))
    assert.isTrue(matches(pattern, { event: "message.delivered", channel: "sms" }))
    assert.isFalse(matches(pattern, { event: "message.delivered", channel: "whatsapp" }))
  })

  it("whatsapp.* matches messages, sessions and groups, and sms.* matches SMS only", () => {
    const whatsapp = compile(["whatsapp.*"])
    assert.isTrue(matches(whatsapp, { event: "group.participant_added" }))
    assert.isTrue(matches(whatsapp, { event: "session.qr_updated" }))
    assert.isFalse(matches(whatsapp, { event: "message.sent", channel: "sms" }))
    assert.isFalse(matches(whatsapp, { event: "email.sent" }))
    assert.isFalse(matches(compile(["sms.*"]), { event: "message.read", channel: "whatsapp" }))
  })

  it("an alias does not match an event on email or on no channel, and a name and its prefix do", () => {
    for (const channel of ["email", null, undefined] as const) {
      const sent = { event: "message.sent", channel } as const
      for (const alias of ["sms.sent", "sms.*", "whatsapp.message.sent", "whatsapp.message.*", "whatsapp.*"]) {
        assert.isFalse(matches(compile([alias]), sent), alias)
      }
      for (const name of ["message.sent", "message.*", "*"]) assert.isTrue(matches(compile([name]), sent), name)
    }
  })

  it("an unknown pattern matches nothing", () => {
    const pattern = compile(["nothing", "message", "*.sent", "message.sent.*", ""])
    for (const topic of topics) assert.isFalse(matches(pattern, topic))
  })

  it("every alias has a topic", () => {
    for (const [alias, topic] of eventAliases) {
      assert.deepStrictEqual(topics.filter((other) => matches(compile([alias]), other)), [topic], alias)
    }
  })

  it.prop(
    "compiled patterns match like a naive model",
    [Schema.Array(Pattern), DomainEvent],
    ([patterns, domainEvent]) => {
      const topic = topics.find(({ channel, event }) => `${event}@${channel ?? ""}` === domainEvent)
      assert.isDefined(topic)
      if (topic === undefined) return
      assert.strictEqual(matches(compile(patterns), topic), model(patterns, namesOf(topic.event, topic.channel)))
    }
  )
})

describe("EventSubscription", () => {
  it("repeated patterns are dropped and the order is kept", () => {
    assert.deepStrictEqual(
      Result.getOrNull<unknown, unknown>(decode(["email.*", "message.sent", "email.*", "sms.*", "message.sent"])),
      ["email.*", "message.sent", "sms.*"]
    )
  })

  it.effect("unknown names are refused, each at its index, with similar names", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Effect.fromResult(decode(["email.send", "*", "Message.Sent", "mesage.*"])))
      assert.include(error.message, "unknown event \"email.send\", did you mean email.sent?\n  at [0]")
      assert.include(error.message, "unknown event \"Message.Sent\", did you mean message.sent?\n  at [2]")
      assert.include(error.message, "unknown event \"mesage.*\", did you mean message.*?\n  at [3]")
      assert.notInclude(error.message, "[1]")
    }))

  it.effect("a name without similar ones is refused with an explanation of the form", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Effect.fromResult(decode(["invoice"])))
      assert.include(error.message, "use \"*\", a prefix such as \"message.*\" or a name such as \"message.sent\"")
    }))

  it("a subscription has 1 to 100 entries", () => {
    assert.isTrue(Result.isFailure(decode([])))
    assert.isTrue(Result.isSuccess(decode(Array.from({ length: 100 }, () => "*"))))
    assert.isTrue(Result.isFailure(decode(Array.from({ length: 101 }, () => "*"))))
    assert.isTrue(Result.isFailure(decode(["x".repeat(1_000_000)])))
    assert.isTrue(Result.isFailure(decode("*")))
  })

  it.prop("an encoded subscription is accepted again", [Schema.NonEmptyArray(Pattern)], ([patterns]) => {
    const once = decode(patterns.slice(0, 100))
    assert.deepStrictEqual(Result.getOrNull<unknown, unknown>(once), [...new Set(patterns.slice(0, 100))])
  })
})

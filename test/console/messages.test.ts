import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Messages } from "../../src/console/language/Messages.ts"
import type { AccountAsk } from "../../src/console/page/Ask.ts"
import { cursorOf, cursorsAround, pageOf, positionIn } from "../../src/console/page/cursor.ts"
import { sentenceOf, type Surroundings, type Told } from "../../src/console/pages/messages/explanation.ts"
import { pauseAfter, whatHappened } from "../../src/console/pages/messages/happened.ts"
import { messageColumns } from "../../src/console/pages/messages/MessagesPage.ts"
import { bar, legend, span, timeline } from "../../src/console/ui/progress.ts"
import type { CodeTimelineEntry } from "../../src/history/Timeline.ts"
import { explain, type Hold } from "../../src/messages/Explanation.ts"
import { AnyStatus, type MessageSummary, SummaryChannel } from "../../src/messages/MessageSummary.ts"
import { html } from "../../src/platform/http/html.ts"
import { WhatsAppSessionId } from "../../src/values/Ids.ts"
import { allows, type Role } from "../../src/values/Permission.ts"
import { Timestamp } from "../../src/values/Timestamp.ts"

const askOf = (search = "") =>
  Effect.map(Effect.flatMap(Messages, (messages) => messages.in("en")), (t) => ({
    t,
    timezone: "Africa/Kigali",
    hourCycle: "h23" as const,
    params: {},
    query: new URLSearchParams(search),
    path: "/console/7/messages",
    isPrivate: true,
    base: "http://localhost:8080",
    party: undefined,
    attempt: undefined,
    isUpdate: false,
    since: undefined,
    seal: () => ({ token: "token", once: "once" })
  }))

const told: Told = {
  channel: "email",
  status: "delivered",
  errorCode: null,
  error: null,
  bounceType: null,
  from: null,
  opens: 0,
  clicks: 0,
  created_at: "2026-05-03T10:00:00.000000Z",
  send_at: null,
  delivered_at: null,
  next_at: null,
  suppression: undefined
}

const nothing: Surroundings = { hold: null, session: undefined, domain: undefined }

it.layer(Messages.layer)("the first line of a message", (it) => {
  it.effect("is one sentence for every status of every channel, with and without an error", () =>
    Effect.gen(function*() {
      const ask = yield* askOf()
      for (const channel of SummaryChannel.literals) {
        for (const status of AnyStatus.literals) {
          for (const error of [null, "550 5.1.1 No such user"]) {
            const given = { ...told, channel, status, error }
            const sentence = sentenceOf(ask, explain(given, null), { told: given, around: nothing })
            assert.match(sentence, /^[A-Z].*\.$/, `${channel} ${status}`)
            assert.notMatch(sentence, /\{|undefined|null/, `${channel} ${status}`)
          }
        }
      }
    }))

  it.effect("says who wrote a received message, or that WhatsApp hides the number", () =>
    Effect.gen(function*() {
      const ask = yield* askOf()
      const said = (from: string | null) => {
        const given = { ...told, channel: "whatsapp" as const, status: "received" as const, from }
        return sentenceOf(ask, explain(given, null), { told: given, around: nothing })
      }
      assert.strictEqual(said("+250788123456"), "It came from +250788123456.")
      assert.strictEqual(said(null), "It came from a number that WhatsApp hides.")
    }))

  it.effect("says that a WhatsApp message waits for its session, and in which state that is", () =>
    Effect.gen(function*() {
      const ask = yield* askOf()
      const around = { ...nothing, session: { id: WhatsAppSessionId.make(5), name: "Shop" } }
      const given = { ...told, channel: "whatsapp" as const, status: "queued" as const }
      const said = (hold: Hold) => sentenceOf(ask, explain(given, hold), { told: given, around })
      const wait = "The message waits until the session is connected."
      assert.strictEqual(said("session_failed"), `The WhatsApp session Shop has failed. Pair its phone again. ${wait}`)
      assert.strictEqual(said("session_disconnected"), `The WhatsApp session Shop is disconnected. ${wait}`)
      assert.strictEqual(said("session_pending"), `The WhatsApp session Shop waits for a phone. ${wait}`)
      assert.include(said("paced"), "the session Shop sends one message after the other")
    }))

  it.effect("counts the time to the delivery from the scheduled moment", () =>
    Effect.gen(function*() {
      const ask = yield* askOf()
      const delivered = { ...told, delivered_at: "2026-05-03T12:00:00.412000Z" }
      assert.strictEqual(
        sentenceOf(ask, { code: "delivered" }, { told: delivered, around: nothing }),
        "Delivered 2 hours after it was accepted."
      )
      const scheduled = { ...delivered, send_at: "2026-05-03T12:00:00.000000Z" }
      assert.strictEqual(
        sentenceOf(ask, { code: "delivered" }, { told: scheduled, around: nothing }),
        "Delivered 412 ms after it was accepted."
      )
    }))

  it.effect("says since when and why an address is on the suppression list", () =>
    Effect.gen(function*() {
      const ask = yield* askOf()
      const given = {
        ...told,
        status: "suppressed" as const,
        suppression: {
          email: "ada@example.com",
          reason: "bounce" as const,
          source_message_id: null,
          created_at: "2026-05-03T10:00:00.000000Z" as NonNullable<Told["suppression"]>["created_at"]
        }
      }
      assert.strictEqual(
        sentenceOf(ask, explain(given, null), { told: given, around: nothing }),
        "Not sent: ada@example.com is on the suppression list since May 3, 2026, 12:00, because an earlier mail bounced."
      )
      const freed = { ...given, suppression: undefined }
      assert.strictEqual(
        sentenceOf(ask, explain(freed, null), { told: freed, around: nothing }),
        "Not sent: the address was on the suppression list."
      )
    }))
})

it.layer(Messages.layer)("what shows the course of things", (it) => {
  it.effect("a bar has the width of its shares, and says its numbers", () =>
    Effect.gen(function*() {
      const ask = yield* askOf()
      const shares = [
        { label: "Sent", count: 3, tone: "good" as const },
        { label: "Failed", count: 1, tone: "bad" as const },
        { label: "Canceled", count: 0, tone: "quiet" as const }
      ]
      const { markup } = bar(ask, shares)
      assert.include(markup, "aria-label=\"Sent: 3, Failed: 1\"")
      assert.include(markup, "<rect class=\"bad\" x=\"750\" width=\"250\"")
      assert.notInclude(bar(ask, shares.map((share) => ({ ...share, count: 0 }))).markup, "NaN")
      assert.include(legend(ask, shares).markup, "<dt>Canceled</dt><dd>0</dd>")
    }))

  it.effect("a timeline has the reader's clock to the millisecond, and the time since the entry before", () =>
    Effect.gen(function*() {
      const ask = yield* askOf()
      const { markup } = timeline(ask, [
        { at: "2026-05-03T10:00:00.000000Z", title: "Accepted", tone: "quiet" },
        { at: "2026-05-03T10:00:01.500000Z", title: "<b>", tone: "bad" }
      ])
      assert.include(markup, "12:00:01.500")
      assert.include(markup, "+1.5 seconds")
      assert.include(markup, "&lt;b&gt;")
    }))

  it.effect("a span of time is not rounded to a much longer one", () =>
    Effect.gen(function*() {
      const ask = yield* askOf()
      const seconds = [86_400 * 3, 86_400 * 1.5, 36_000 * 1.5, 5400, 90, 60, 45.25, 1.5, 0.412, 0]
      assert.deepStrictEqual(seconds.map((count) => span(ask, count * 1000)), [
        "3 days",
        "1.5 days",
        "15 hours",
        "1.5 hours",
        "1.5 minutes",
        "1 minute",
        "45.3 seconds",
        "1.5 seconds",
        "412 ms",
        "0 ms"
      ])
    }))
})

it.layer(Messages.layer)("the cursor of a list", (it) => {
  it.effect("leads to the rows behind the last one shown", () =>
    Effect.gen(function*() {
      const page = pageOf([1, 2, 3], 2, (row) => [row])
      assert.deepStrictEqual(page.rows, [1, 2])
      const ask = yield* askOf(`cursor=${page.older ?? ""}`)
      assert.deepStrictEqual(positionIn(ask, Schema.Tuple([Schema.Int])), [2])
      assert.isUndefined(pageOf([1, 2], 2, (row) => [row]).older)
    }))

  it.effect("leads back page by page, to the newest rows last", () =>
    Effect.gen(function*() {
      const [a, b] = [cursorOf([2]), cursorOf([4])]
      const around = (search: string) => Effect.map(askOf(search), (ask) => cursorsAround(ask, b))
      assert.deepStrictEqual(yield* around(""), { older: { cursor: `.${b}` } })
      assert.deepStrictEqual(yield* around(`cursor=.${a}`), {
        newer: { cursor: null },
        older: { cursor: `.${a}.${b}` }
      })
      assert.deepStrictEqual(cursorsAround(yield* askOf(`cursor=.${a}.${b}`), undefined), {
        newest: { cursor: null },
        newer: { cursor: `.${a}` }
      })
      assert.deepStrictEqual(positionIn(yield* askOf(`cursor=.${a}.${b}`), Schema.Tuple([Schema.Int])), [4])
    }))

  it.effect("names the last pages that fit into an address, and no page before the first of these", () =>
    Effect.gen(function*() {
      for (const a of [cursorOf([2]), cursorOf([`${"a".repeat(240)}@example.com`])]) {
        const { newer, older } = cursorsAround(yield* askOf(`cursor=${`${a}.`.repeat(500)}${a}`), a)
        assert.isAbove(older?.cursor.length ?? 0, 1_100)
        assert.isAtMost(older?.cursor.length ?? 0, 1_500)
        assert.isAtMost(newer?.cursor?.length ?? 0, 1_500)
      }
      const a = cursorOf([2])
      assert.deepStrictEqual(cursorsAround(yield* askOf(`cursor=${a}`), undefined), { newest: { cursor: null } })
    }))

  it.effect("that this list cannot have starts the list over", () =>
    Effect.gen(function*() {
      const Place = Schema.Tuple([Schema.Int])
      for (const cursor of ["", "x", ".x", cursorOf(["drop table"]), cursorOf([1, 2]), cursorOf([1.5])]) {
        assert.isNull(positionIn(yield* askOf(`cursor=${cursor}`), Place), cursor)
      }
    }))
})

const at = Timestamp.make("2026-05-03T10:00:00.000000Z")

const summary: MessageSummary = {
  id: 5,
  channel: "whatsapp",
  direction: "in",
  from: null,
  to: "+250788000000",
  status: "received",
  type: "text",
  batch_id: null,
  failover_id: null,
  tags: [],
  metadata: {},
  mode: "live",
  preview: "Thanks",
  error: null,
  created_at: at,
  updated_at: at,
  href: "/v1/whatsapp/messages/5"
}

/** A request of a person with this role. The timeline reads no more of an account. */
const askAs = (role: Role, search = "") =>
  Effect.map(askOf(search), (ask) =>
    ({
      ...ask,
      to: (path: string) => `/console/7${path}`,
      can: (permission: Parameters<typeof allows>[1]) => allows(role, permission)
    }) as unknown as AccountAsk)

const delivery = (status: "pending" | "failed"): CodeTimelineEntry => ({
  at,
  kind: "delivery",
  detail: {
    id: 31,
    webhook_id: 5,
    event_id: "evt_1",
    event: "email.sent",
    status,
    attempts: 4,
    response_code: 500,
    error: null
  }
})

it.layer(Messages.layer)("the list of messages", (it) => {
  it.effect("says who wrote a received message, and to whom others were sent", () =>
    Effect.gen(function*() {
      const columns = messageColumns(yield* askAs("owner"))
      const shown = (of: Partial<MessageSummary>) =>
        html`${columns[2]?.cell({ ...summary, ...of })}`.markup.replaceAll(/<[^>]*>/g, "")
      assert.strictEqual(shown({ direction: "in", from: "+250788123456" }), "From +250788123456")
      assert.strictEqual(shown({ direction: "in", from: null }), "From hidden by WhatsApp")
      assert.strictEqual(shown({ direction: "out", from: "+250788123456" }), "+250788000000")
    }))
})

it.layer(Messages.layer)("the timeline of a message", (it) => {
  it.effect("leads to each delivery, and makes one again that is over", () =>
    Effect.gen(function*() {
      const page = "/console/7/webhooks/5/deliveries/31"
      const { markup } = whatHappened(yield* askAs("owner"), [delivery("failed")])
      assert.include(markup, `<a href="${page}">`)
      assert.match(markup, new RegExp(`<form [^>]*action="${page}".*value="redeliver".*Deliver again`, "s"))
      const open = whatHappened(yield* askAs("owner"), [delivery("pending")]).markup
      assert.include(open, `<a href="${page}">`)
      assert.notInclude(open, "<form")
      assert.notInclude(whatHappened(yield* askAs("support"), [delivery("failed")]).markup, "<form")
    }))

  it.effect("names the key and the address of the request", () =>
    Effect.gen(function*() {
      const detail = { batch_id: null, request_id: null, key_prefix: "sk_live_Ab", ip: "203.0.113.7" }
      const { markup } = whatHappened(yield* askAs("owner"), [{ at, kind: "accepted", detail }])
      for (const part of ["sk_live_Ab", "203.0.113.7"]) assert.include(markup, part)
    }))

  it.effect("of more than 500 entries has the first and the last 100, and leads to all", () =>
    Effect.gen(function*() {
      const entries = Array.from({ length: 501 }, (_, index): CodeTimelineEntry => ({
        at,
        kind: "claimed",
        detail: { attempt: index + 1, part: null, to: null }
      }))
      const shown = (markup: string) => [...markup.matchAll(/attempt (\d+)</g)].map(([, attempt]) => Number(attempt))
      const { markup } = whatHappened(yield* askAs("owner"), entries)
      const found = shown(markup)
      assert.deepStrictEqual([found.length, found[99], found[100], found[199]], [200, 100, 402, 501])
      assert.include(markup, "?all=1\"")
      assert.lengthOf(shown(whatHappened(yield* askAs("owner", "all=1"), entries).markup), 501)
      assert.lengthOf(shown(whatHappened(yield* askAs("owner"), entries.slice(1)).markup), 500)
    }))

  it("is read again with growing pauses, until nothing more is likely", () => {
    const after = (seconds: number, isOver: boolean, entry: CodeTimelineEntry = delivery("failed")) =>
      pauseAfter([entry], { isOver, now: Date.parse(at) + seconds * 1000 })
    assert.deepStrictEqual([0, 30, 599, 600].map((seconds) => after(seconds, true)), [2, 3, 60, false])
    assert.deepStrictEqual([0, 300, 86_400].map((seconds) => after(seconds, false)), [2, 30, 60])
    assert.strictEqual(after(86_400, true, delivery("pending")), 60)
  })
})

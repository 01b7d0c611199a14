import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Messages } from "../../src/console/language/Messages.ts"
import { cursorOf, cursorsAround, pageOf, positionIn } from "../../src/console/page/cursor.ts"
import { sentenceOf, type Surroundings, type Told } from "../../src/console/pages/messages/explanation.ts"
import { bar, legend, span, timeline } from "../../src/console/ui/progress.ts"
import { explain, type Hold } from "../../src/messages/Explanation.ts"
import { AnyStatus, SummaryChannel } from "../../src/messages/MessageSummary.ts"
import { WhatsAppSessionId } from "../../src/values/Ids.ts"

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
      assert.strictEqual(span(ask, 86_400_000 * 3), "3 days")
      assert.strictEqual(span(ask, 0), "0 ms")
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

  it.effect("names the last forty pages at most, and no page before the first of these", () =>
    Effect.gen(function*() {
      const a = cursorOf([2])
      const full = `cursor=${Array.from({ length: 40 }, () => a).join(".")}`
      const { newer, older } = cursorsAround(yield* askOf(full), a)
      assert.strictEqual(older?.cursor.split(".").length, 40)
      assert.strictEqual(newer?.cursor?.split(".").length, 39)
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

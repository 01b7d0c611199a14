/** The graph and the numbers of the overview, drawn without a server. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Schema } from "effect"
import { Messages } from "../../src/console/language/Messages.ts"
import type { Ask } from "../../src/console/page/Ask.ts"
import { numbersOf, runsOutAt, stackOf, timesOf } from "../../src/console/pages/overview/numbers.ts"
import { columns, roundedUp } from "../../src/console/ui/columns.ts"
import type { CountedOutcome } from "../../src/events/EventNames.ts"
import type { StatisticsRow } from "../../src/overview/StatisticsRow.ts"
import { Timestamp } from "../../src/values/Timestamp.ts"

const row = (outcome: CountedOutcome, count: number, channel: StatisticsRow["channel"] = "email"): StatisticsRow => ({
  at: Timestamp.make("2026-05-03T10:00:00.000000Z"),
  channel,
  outcome,
  reason: "",
  count
})

it.layer(Messages.layer)("stacked columns", (it) => {
  const drawn = (stacks: ReadonlyArray<{ readonly label: string; readonly counts: ReadonlyArray<number> }>) =>
    Effect.map(Effect.flatMap(Messages, (messages) => messages.in("en")), (t) =>
      // The graph reads no more of a request.
      columns({ t } as Ask, {
        title: "Messages",
        time: "Hour",
        total: "All",
        show: "Table",
        series: [{ label: "Sent", tone: "good" }, { label: "Failed", tone: "bad" }],
        stacks
      }).markup)

  it.effect("have the height of their numbers, say them, and show them as a table", () =>
    Effect.gen(function*() {
      const markup = yield* drawn([{ label: "10:00", counts: [3, 1] }, { label: "11:00", counts: [0, 0] }])
      assert.include(markup, "aria-label=\"Messages. Sent: 3, Failed: 1\"")
      assert.include(markup, "<rect class=\"good\" x=\"70.0\" y=\"25.00\" width=\"360.0\" height=\"75.00\">")
      assert.include(markup, "<rect class=\"bad\" x=\"70.0\" y=\"0.00\" width=\"360.0\" height=\"25.00\">")
      assert.strictEqual(markup.match(/<rect/g)?.length, 2)
      // An hour without messages has no row.
      assert.strictEqual(markup.match(/<tr>/g)?.length, 2)
    }))

  it.effect("are empty without messages, and never have an impossible number", () =>
    Effect.gen(function*() {
      for (const stacks of [[], [{ label: "10:00", counts: [0, 0] }]]) {
        assert.notMatch(yield* drawn(stacks), /NaN|Infinity|undefined|<rect/)
      }
    }))
})

describe("the end of the axis", () => {
  it.prop(
    "is at most five times the highest column, never below it, and has a whole half",
    [Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000_000 }))],
    ([most]) => {
      const top = roundedUp(most)
      assert.isAtLeast(top, most)
      assert.isAtMost(top, Math.max(4, most * 5))
      assert.strictEqual(top % 2, 0)
    }
  )
})

describe("the numbers of the overview", () => {
  it("compare a channel with the week before", () => {
    const { counts } = numbersOf("email", [row("sent", 5), row("sent", 2, "sms"), row("failed", 1)], [row("sent", 3)])
    assert.deepStrictEqual(counts.sent, { now: 5, before: 3 })
    assert.deepStrictEqual(counts.failed, { now: 1, before: 0 })
  })

  it("count a delivered message once in its column", () => {
    assert.deepStrictEqual(stackOf([row("sent", 5), row("delivered", 3), row("failed", 1), row("suppressed", 2)]), [
      3,
      2,
      1,
      2
    ])
    assert.deepStrictEqual(stackOf([row("delivered", 3)]), [3, 0, 0, 0])
  })

  it("begin days at the reader's midnight, also when the clocks change", () => {
    const now = DateTime.makeUnsafe("2026-03-30T10:30:00Z")
    const days = timesOf("7d", now, "Europe/Berlin").map((time) => DateTime.formatIso(DateTime.toUtc(time)))
    assert.deepStrictEqual(days.slice(-3), [
      "2026-03-27T23:00:00.000Z",
      "2026-03-28T23:00:00.000Z",
      "2026-03-29T22:00:00.000Z"
    ])
    assert.strictEqual(timesOf("24h", now, "UTC").length, 24)
  })
})

describe("the day on which a quota runs out", () => {
  const resets_at = "2026-06-01T00:00:00.000000Z"
  const on = (day: string) => DateTime.makeUnsafe(`2026-05-${day}T00:00:00Z`)
  const runsOut = (used: number, day: string, limit: number | null = 1000) => {
    const at = runsOutAt({ limit, used, resets_at }, on(day))
    return at === undefined ? undefined : DateTime.formatIso(at).slice(0, 10)
  }

  it("follows the pace of the month so far", () => {
    assert.strictEqual(runsOut(500, "11"), "2026-05-21")
    assert.strictEqual(runsOut(999, "31"), "2026-05-31")
  })

  it("is not told if the quota lasts, has no limit, is used up, or was used for less than a day", () => {
    assert.isUndefined(runsOut(322, "11"))
    assert.isUndefined(runsOut(500, "11", null))
    assert.isUndefined(runsOut(1000, "11"))
    assert.isUndefined(runsOut(0, "11"))
    assert.isUndefined(runsOut(999, "01"))
  })

  it.prop(
    "is after now and before the quota begins again",
    [
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1100 })),
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 31 }))
    ],
    ([used, day]) => {
      const now = on(String(day).padStart(2, "0"))
      const at = runsOutAt({ limit: 1000, used, resets_at }, now)
      if (at === undefined) return
      assert.isTrue(DateTime.isLessThan(now, at) && DateTime.isLessThan(at, DateTime.makeUnsafe(resets_at)))
    }
  )
})

/** The graph and the numbers of the overview, drawn without a server. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Messages } from "../../src/console/language/Messages.ts"
import type { AccountAsk, Ask } from "../../src/console/page/Ask.ts"
import { attentionList } from "../../src/console/pages/overview/attentionList.ts"
import { numbersOf, runsOutAt, stackOf, timesOf } from "../../src/console/pages/overview/numbers.ts"
import { overviewPage } from "../../src/console/pages/overview/OverviewPage.ts"
import { columns, roundedUp } from "../../src/console/ui/columns.ts"
import type { CountedOutcome } from "../../src/events/EventNames.ts"
import { AllMessages } from "../../src/history/AllMessages.ts"
import { Attention } from "../../src/overview/Attention.ts"
import type { AttentionItem } from "../../src/overview/attentionOf.ts"
import { Statistics } from "../../src/overview/Statistics.ts"
import type { AskedStatistics, StatisticsRow } from "../../src/overview/StatisticsRow.ts"
import { allows, type Role } from "../../src/values/Permission.ts"
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
    const today = [row("sent", 5), row("sent", 2, "sms"), row("failed", 1)]
    const { counts } = numbersOf("email", { today, over: today, lastWeek: [row("sent", 3)] })
    assert.deepStrictEqual(counts.sent, { now: 5, change: 2 })
    assert.deepStrictEqual(counts.failed, { now: 1, change: 1 })
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

/** A request of a person in an account. */
const askOf = (role: Role, trial = "none") =>
  Effect.map(Effect.flatMap(Messages, (messages) => messages.in("en")), (t) =>
    // The overview reads no more of a person and an account than this.
    ({
      t,
      timezone: "UTC",
      hourCycle: "h23",
      query: new URLSearchParams(),
      path: "/console/7/",
      isUpdate: false,
      since: undefined,
      seal: () => ({ token: "token", once: "once" }),
      account: { id: 7, role, trial },
      mode: "live",
      signedIn: { person: { timezone: "UTC" }, has_second_factor: true },
      accountId: 7,
      to: (path: string) => `/console/7${path}`,
      can: (permission: Parameters<typeof allows>[1]) => allows(role, permission)
    }) as unknown as AccountAsk)

it.layer(Messages.layer)("what needs attention", (it) => {
  const item = (code: AttentionItem["code"]): AttentionItem => ({
    code,
    severity: "bad",
    since: null,
    subject: { id: 5, name: "<shop>" },
    message: ""
  })
  /** The forms and the links of an item. */
  const controls = (code: AttentionItem["code"], role: Role = "owner", trial?: string) =>
    Effect.map(askOf(role, trial), (ask) => {
      const { markup } = attentionList(ask, [item(code)])
      const forms = [...markup.matchAll(/action="([^"]+)"><input type="hidden" name="_action" value="(\w+)"/g)]
      const links = [...markup.matchAll(/<a class="button" href="([^"]+)"/g)]
      return [...forms.map(([, at, name]) => `${name} ${at}`), ...links.map(([, href]) => href)]
    })

  it.effect("has the button that helps, beside the page of its subject", () =>
    Effect.gen(function*() {
      const [webhook, session, domain] = ["/console/7/webhooks/5", "/console/7/whatsapp/5", "/console/7/domains/5"]
      assert.deepStrictEqual(yield* controls("webhook_unhealthy"), [`enable ${webhook}`, `${webhook}/test`, webhook])
      assert.deepStrictEqual(yield* controls("webhook_failing"), [`${webhook}/test`, webhook])
      assert.deepStrictEqual(yield* controls("session_failed"), [`connect ${session}`, session])
      assert.deepStrictEqual(yield* controls("session_disconnected"), [`connect ${session}`, session])
      assert.deepStrictEqual(yield* controls("session_unpaired"), [session])
      assert.deepStrictEqual(yield* controls("domain_lost"), [`check ${domain}`, domain])
      assert.deepStrictEqual(yield* controls("domain_pending"), [`check ${domain}`, domain])
    }))

  it.effect("has no button that the role or the plan of its reader refuses", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* controls("webhook_unhealthy", "support"), ["/console/7/webhooks/5"])
      assert.deepStrictEqual(yield* controls("session_failed", "support"), ["/console/7/whatsapp/5"])
      assert.deepStrictEqual(yield* controls("domain_lost", "support"), ["/console/7/domains/5"])
      const onTrial = yield* controls("webhook_unhealthy", "owner", "running")
      assert.deepStrictEqual(onTrial, ["/console/7/webhooks/5/test", "/console/7/webhooks/5"])
    }))
})

it.layer(Messages.layer)("the overview", (it) => {
  const done = { key: true, domain: true, webhook: true, message: true }

  /** The overview of an account that may use so much of its mails of the month. */
  const drawn = (
    limit: number | null,
    { query = "", role = "owner", statistics = () => [], steps = done }: {
      readonly query?: string
      readonly role?: Role
      readonly statistics?: (asked: AskedStatistics) => ReadonlyArray<StatisticsRow>
      readonly steps?: typeof done
    } = {}
  ) =>
    Effect.flatMap(
      askOf(role),
      (ask) => overviewPage.show({ ...ask, query: new URLSearchParams(query) })
    ).pipe(
      Effect.map(({ content }) => content.markup),
      Effect.provide(Layer.mergeAll(
        Layer.mock(Attention)({
          of: () =>
            Effect.succeed({
              items: [],
              quotas: [{
                resource: "email",
                limit,
                used: 40,
                remaining: limit === null ? null : limit - 40,
                resets_at: Timestamp.make("2026-06-01T00:00:00.000000Z")
              }]
            }),
          firstSteps: () => Effect.succeed(steps)
        }),
        Layer.mock(Statistics)({ read: (_, asked) => Effect.succeed(statistics(asked)) }),
        Layer.mock(AllMessages)({ list: () => Effect.succeed([]) })
      ))
    )

  it.effect("compares only the hours of today that are over with those of last week", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.parse("2026-05-10T10:05:00Z"))
      // Of the hour at ten only five minutes have passed.
      const counts = [["03T08", 5], ["03T10", 60], ["03T11", 9], ["10T08", 5], ["10T10", 1]] as const
      const rows = counts.map(([hour, count]) => ({
        ...row("sent", count),
        at: Timestamp.make(`2026-05-${hour}:00:00.000000Z`)
      }))
      const statistics = ({ from_date = "", granularity, to_date = "" }: AskedStatistics) =>
        granularity === "hour" ? rows.filter(({ at }) => at >= from_date && at < to_date) : []
      for (const range of ["", "range=7d"]) {
        assert.match(yield* drawn(null, { query: range, statistics }), /6 <span class="change quiet">±0</, range)
      }
      yield* TestClock.setTime(Date.parse("2026-05-10T00:00:00Z"))
      assert.match(yield* drawn(null, { statistics }), /0 <span class="change quiet">±0</)
    }))

  it.effect("leads from the first steps to the pages that the reader may open", () =>
    Effect.gen(function*() {
      const links = (role: Role) =>
        Effect.map(
          drawn(null, { role, steps: { ...done, key: false, domain: false, webhook: false, message: false } }),
          (markup) => [...markup.matchAll(/<h3><a href="([^"]*)">/g)].map(([, href]) => href)
        )
      const all = ["/keys/new", "/domains/new", "/webhooks/new", "/send"].map((path) => `/console/7${path}`)
      assert.deepStrictEqual(yield* links("owner"), all)
      assert.deepStrictEqual(yield* links("support"), [])
      assert.include(yield* drawn(null, { role: "support", steps: { ...done, key: false } }), "<h3>Create an API key ")
    }))

  it.effect("has the bars of the quotas that are limited", () =>
    Effect.gen(function*() {
      assert.include(yield* drawn(100), "40 of 100 used")
      assert.notInclude(yield* drawn(null), "class=\"quotas\"")
    }))
})

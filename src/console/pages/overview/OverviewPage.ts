import { DateTime, Effect } from "effect"
import { AllMessages } from "../../../history/AllMessages.ts"
import type { MessageSummary } from "../../../messages/MessageSummary.ts"
import { Attention } from "../../../overview/Attention.ts"
import { Statistics } from "../../../overview/Statistics.ts"
import type { StatisticsRow } from "../../../overview/StatisticsRow.ts"
import { type Html, html } from "../../../platform/http/html.ts"
import type { UsageReport } from "../../../usage/UsageReport.ts"
import { fromDateTime } from "../../../values/Timestamp.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { withQuery } from "../../page/Ask.ts"
import { Page } from "../../page/Page.ts"
import { columns } from "../../ui/columns.ts"
import { card, foreign, icon, moment, number } from "../../ui/parts.ts"
import { tabs } from "../../ui/progress.ts"
import { table } from "../../ui/table.ts"
import { channelsOf, recipients, statusBadge } from "../messages/messageParts.ts"
import { attentionList } from "./attentionList.ts"
import {
  type ChannelNumbers,
  type Compared,
  numbersOf,
  type Range,
  rangeOf,
  ranges,
  shownOutcomes,
  stackedOutcomes,
  stackOf,
  timesOf
} from "./numbers.ts"
import { quotasCard } from "./UsagePage.ts"

const stepNames = ["key", "domain", "webhook", "message", "factor"] as const
type Steps = Readonly<Record<(typeof stepNames)[number], boolean>>

const start = ({ can, t, to }: AccountAsk, steps: Steps) => {
  const places = {
    key: can("keys:write") && to("/keys/new"),
    domain: can("domains:write") && to("/domains/new"),
    webhook: can("webhooks:write") && to("/webhooks/new"),
    message: can("messages:write") && to("/send"),
    factor: "/console/me/security"
  }
  const step = (name: (typeof stepNames)[number]) => {
    const title = t.text(`overview.start.${name}`)
    const place = !steps[name] && places[name]
    return html`<li${steps[name] && html` class="ticked"`}>${
      icon(steps[name] ? "circle-check" : "chevron-right")
    }<div><h3>${place === false ? title : html`<a href="${place}">${title}</a>`} <span class="hidden">(${
      t.text(steps[name] ? "overview.start.done" : "overview.start.open")
    })</span></h3><p>${t.text(`overview.start.${name}Text`)}</p></div></li>`
  }
  return card(
    t.text("overview.start.title"),
    html`<p class="quiet">${t.text("overview.start.text")}</p><ol class="steps">${stepNames.map(step)}</ol>`,
    "start"
  )
}

const difference = (ask: AccountAsk, { change, now }: Compared) =>
  html`${number(ask, now)} <span class="change quiet">${
    change === 0 ? "±0" : `${change > 0 ? "+" : "−"}${number(ask, Math.abs(change))}`
  }</span>`

const today = (ask: AccountAsk, rows: ReadonlyArray<ChannelNumbers>) =>
  card(
    ask.t.text("overview.today.title"),
    html`<p class="quiet">${ask.t.text("overview.today.text")}</p>${
      table(ask.t.text("overview.today.title"), [
        { label: ask.t.text("messages.channel"), cell: ({ channel }) => ask.t.text(`channel.${channel}`) },
        ...shownOutcomes.map((outcome) => ({
          label: ask.t.text(`overview.outcome.${outcome}`),
          kind: "number" as const,
          cell: ({ counts }: ChannelNumbers) => difference(ask, counts[outcome])
        }))
      ], rows)
    }`,
    "today"
  )

const tones = { delivered: "good", sent: "busy", failed: "bad", suppressed: "warn" } as const

interface Graphed {
  readonly range: Range
  readonly times: ReadonlyArray<DateTime.Zoned>
  readonly rows: ReadonlyArray<StatisticsRow>
}

const graph = (ask: AccountAsk, { range, rows, times }: Graphed): Html => {
  const { t, timezone } = ask
  const format = new Intl.DateTimeFormat(t.intl, {
    timeZone: timezone,
    ...(ranges[range].unit === "hour"
      ? { hour: "2-digit", minute: "2-digit", hourCycle: ask.hourCycle ?? "h23" }
      : { month: "short", day: "numeric" })
  })
  const byTime = Map.groupBy(rows, ({ at }) => Date.parse(at))
  const stacks = times.map((time) => {
    const at = DateTime.toEpochMillis(time)
    return { label: format.format(at), counts: stackOf(byTime.get(at) ?? []) }
  })
  const choices = (Object.keys(ranges) as ReadonlyArray<Range>).map((one) => ({
    label: t.text(`overview.range.${one}`),
    href: withQuery(ask, { range: one === "24h" ? null : one }),
    isCurrent: one === range
  }))
  return card(
    t.text("overview.graph.title"),
    html`${tabs(t.text("overview.graph.range"), choices)}${
      columns(ask, {
        title: t.text("overview.graph.title"),
        time: t.text(`overview.graph.${ranges[range].unit}`),
        total: t.text("overview.graph.total"),
        show: t.text("overview.graph.table"),
        series: stackedOutcomes.map((outcome) => ({
          label: t.text(`overview.stack.${outcome}`),
          tone: tones[outcome]
        })),
        stacks
      })
    }`,
    "graph"
  )
}

const failures = (ask: AccountAsk, rows: ReadonlyArray<MessageSummary>) =>
  rows.length > 0 &&
  card(
    ask.t.text("overview.failures.title"),
    table(ask.t.text("overview.failures.title"), [
      {
        label: ask.t.text("messages.to"),
        cell: ({ channel, id, to }) =>
          html`<a href="${ask.to(`/messages/${channel}/${id}`)}">${recipients(ask, to)}</a>`
      },
      { label: ask.t.text("messages.status"), cell: ({ status }) => statusBadge(ask, status) },
      {
        label: ask.t.text("overview.failures.reason"),
        cell: ({ error }) => html`<span class="clamp">${foreign(error ?? "")}</span>`
      },
      { label: ask.t.text("messages.when"), cell: ({ created_at }) => moment(ask, created_at) }
    ], rows),
    "failures"
  )

const shownFailures = 5

const quotas = (ask: AccountAsk, all: UsageReport["quotas"], now: DateTime.Utc) => {
  const limited = all.filter(({ limit }) => limit !== null)
  return limited.length > 0 && quotasCard(ask, limited, now)
}

/** Most recent failures of the last 30 days. Bounced is a separate status. */
const readFailures = Effect.fnUntraced(function*({ accountId, ...ask }: AccountAsk, since: DateTime.Utc) {
  const messages = yield* AllMessages
  const channels = new Set(channelsOf({ accountId, ...ask }, "read"))
  const filter = { tags: [], metadata: {}, from_date: fromDateTime(since) }
  const found = yield* Effect.forEach(
    ["failed", "bounced"],
    (status) =>
      messages.list({ accountId, channels }, { ...filter, status }, { limit: shownFailures, offset: 0, after: null })
  )
  const rows = found.flat().map(({ summary }) => summary)
  return rows.toSorted((one, other) => one.created_at < other.created_at ? 1 : -1).slice(0, shownFailures)
})

const rowsBefore = (time: DateTime.DateTime, rows: ReadonlyArray<StatisticsRow>) =>
  rows.filter(({ at }) => Date.parse(at) < DateTime.toEpochMillis(time))

const readNumbers = Effect.fnUntraced(function*(ask: AccountAsk, now: DateTime.Utc) {
  const { accountId } = ask
  const { timezone } = ask.signedIn.person
  const statistics = yield* Statistics
  const range = rangeOf(ask.query.get("range"))
  const { unit } = ranges[range]
  const times = timesOf(range, now, timezone)
  const local = DateTime.makeZonedUnsafe(now, { timeZone: timezone })
  const midnight = DateTime.startOf(local, "day")
  const hour = DateTime.startOf(local, "hour")
  const between = (from: DateTime.DateTime, to: DateTime.DateTime, granularity: "hour" | "day") =>
    statistics.read(accountId, {
      from_date: fromDateTime(DateTime.toUtc(from)),
      to_date: fromDateTime(DateTime.toUtc(to)),
      granularity,
      timezone
    })
  const end = DateTime.add(local, { seconds: 1 })
  // A day may have 25 hours.
  const rows = yield* between(DateTime.min(times[0] ?? now, midnight), end, unit)
  const today = unit === "hour"
    ? rows.filter(({ at }) => Date.parse(at) >= DateTime.toEpochMillis(midnight))
    : yield* between(midnight, end, "hour")
  const weekBefore = (time: DateTime.Zoned) => DateTime.subtract(time, { days: 7 })
  const lastWeek = yield* between(weekBefore(midnight), weekBefore(end), "hour")
  const hours = { today, over: rowsBefore(hour, today), lastWeek: rowsBefore(weekBefore(hour), lastWeek) }
  return { today: channelsOf(ask, "read").map((channel) => numbersOf(channel, hours)), graph: { range, times, rows } }
})

/** The overview of an account: what needs attention, the numbers, and until all of it exists, the first steps. */
export const overviewPage = Page.account({
  path: "",
  permission: "account:read",
  entry: { group: "", label: "nav.overview", icon: "layout-dashboard", order: 1, key: "o" },
  read: (ask) =>
    Effect.gen(function*() {
      const { accountId } = ask
      const attention = yield* Attention
      const now = yield* DateTime.now
      const { numbers, steps, ...read } = yield* Effect.all({
        numbers: Effect.orDie(readNumbers(ask, now)),
        steps: attention.firstSteps(accountId),
        attention: attention.of(accountId),
        failed: readFailures(ask, DateTime.subtract(now, { days: 30 }))
      }, { concurrency: 2 })
      return { ...numbers, ...read, now, steps: { ...steps, factor: ask.signedIn.has_second_factor } }
    }),
  draw: ({ attention, failed, graph: graphed, now, steps, today: numbers }, ask) => ({
    title: ask.t.text("overview.title"),
    isLive: true,
    curl: "/v1/account/attention",
    content: html`<div class="stack">
${attentionList(ask, attention.items)}
${stepNames.some((name) => !steps[name]) && start(ask, steps)}
${numbers.length > 0 && today(ask, numbers)}
${graph(ask, graphed)}
${quotas(ask, attention.quotas, now)}
${failures(ask, failed)}
</div>`
  })
})

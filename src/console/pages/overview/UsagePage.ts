import { DateTime, Effect, Option, Stream } from "effect"
import { type Html, html } from "../../../platform/http/html.ts"
import { UsageApi } from "../../../usage/UsageApi.ts"
import { Granularity, type UsageReport, type UsedInTime } from "../../../usage/UsageReport.ts"
import { UsageReports } from "../../../usage/UsageReports.ts"
import { type AccountAsk, withQuery } from "../../page/Ask.ts"
import { filtersIn, tidied } from "../../page/filter.ts"
import { Page } from "../../page/Page.ts"
import { badge, card, emptyState, facts, inDollars, linkButton, moment, note, number } from "../../ui/parts.ts"
import { bar, tabs } from "../../ui/progress.ts"
import { csvHref, csvLine, table, wantsCsv } from "../../ui/table.ts"
import { runsOutAt } from "./numbers.ts"

const names = ["from_date", "to_date", "granularity"] as const

/** One quota as a bar, or what was used where there is no limit. */
const quota = (ask: AccountAsk, one: UsageReport["quotas"][number], now: DateTime.DateTime) => {
  const { limit, remaining, resets_at, resource, used } = one
  const { mode, t, timezone } = ask
  // The quotas of test mode are those of a day.
  const end = mode === "live" ? runsOutAt(one, now) : undefined
  const day = new Intl.DateTimeFormat(t.intl, { timeZone: timezone, dateStyle: "medium" })
  const name = t.text(`usage.metric.${resource}`)
  if (limit === null || remaining === null) {
    return html`<li><h3>${name}</h3><p>${t.text("usage.unlimited", { used: number(ask, used) })}</p></li>`
  }
  const tone = used >= limit ? "bad" : used >= limit * 0.8 ? "warn" : "good"
  return html`<li><h3>${name}</h3>${
    bar(ask, [
      { label: name, count: Math.min(used, limit), tone },
      { label: t.text("usage.unused"), count: remaining, tone: "quiet" }
    ])
  }<p>${t.text("usage.used", { used: number(ask, used), limit: number(ask, limit) })}</p><p class="quiet">${
    t.rich("usage.left", { left: number(ask, remaining), time: moment(ask, resets_at) })
  }</p>${
    end !== undefined &&
    note(
      t.rich("usage.runsOut", {
        day: html`<time datetime="${DateTime.formatIso(end)}">${day.format(DateTime.toEpochMillis(end))}</time>`
      }),
      "warn"
    )
  }</li>`
}

/** The quotas with their bars. */
export const quotasCard = (ask: AccountAsk, quotas: UsageReport["quotas"], now: DateTime.DateTime): Html =>
  card(
    ask.t.text("usage.quotas"),
    html`<ul class="quotas">${quotas.map((one) => quota(ask, one, now))}</ul>`,
    "quotas"
  )

/** The days that the table shows. What a person typed stays, also where it cannot be a period. */
const periodForm = ({ path, query, t }: AccountAsk, { from, to }: UsageReport["period"]) => {
  const granularity = query.get("granularity")
  const field = (name: "from_date" | "to_date", value: string, hint: Html | false) =>
    html`<div class="field"><label for="f-${name}">${
      t.text(`messages.${name}`)
    }</label><input type="date" id="f-${name}" name="${name}" value="${query.get(name) || value}"${
      hint !== false && html` aria-describedby="f-${name}-hint"`
    }>${hint}</div>`
  return html`<form method="get" action="${path}" class="filter"><div class="fields">${
    field("from_date", from, false)
  }${field("to_date", to, html`<p class="hint" id="f-to_date-hint">${t.text("usage.untilHint")}</p>`)}</div>${
    granularity !== null && html`<input type="hidden" name="granularity" value="${granularity}">`
  }<div class="buttons"><button>${t.text("messages.apply")}</button></div></form>`
}

const rowsOf = (ask: AccountAsk, rows: ReadonlyArray<UsedInTime>) => {
  const { t } = ask
  const day = new Intl.DateTimeFormat(t.intl, {
    timeZone: "UTC",
    dateStyle: "medium"
  })
  return table(t.text("usage.table"), [
    {
      label: t.text("usage.date"),
      cell: ({ date }) => html`<time datetime="${date}">${day.format(Date.parse(`${date}T00:00:00Z`))}</time>`
    },
    { label: t.text("usage.metric"), cell: ({ metric }) => t.text(`usage.metric.${metric}`) },
    { label: t.text("usage.count"), kind: "number", cell: ({ count }) => number(ask, count) },
    {
      label: t.text("usage.cost"),
      kind: "number",
      cell: ({ cost_usd }) => cost_usd === 0 ? "" : inDollars(ask, cost_usd)
    }
  ], rows.toReversed())
}

const plan = ({ account, t }: AccountAsk) =>
  card(
    t.text("overview.plan.title"),
    facts([
      [t.text("overview.plan.name"), account.plan],
      [
        t.text("overview.plan.trial"),
        account.trial === "none"
          ? t.text("overview.plan.none")
          : badge(t.text(`overview.plan.${account.trial}`), account.trial === "over" ? "bad" : "busy")
      ],
      [t.text("overview.plan.id"), html`<code>${account.id}</code>`]
    ]),
    "plan"
  )

/** What the account has used in a period, by default this month, and what is left of its quotas. */
export const usagePage = Page.account({
  path: "/usage",
  permission: "account:read",
  entry: { group: "settings", label: "nav.usage", icon: "activity", order: 1, key: "u" },
  read: (ask) =>
    Effect.gen(function*() {
      const { accountId } = ask
      const { filter = {}, refused, valid } = filtersIn(ask, UsageApi.endpoints.daily, names)
      const { granularity = "day", ...asked } = filter
      const reports = yield* UsageReports
      // The only failure is that of a period.
      const found = yield* Effect.option(reports.inTime(accountId, asked, granularity))
      return {
        granularity,
        valid,
        isWrong: Option.isNone(found) || refused.some((name) => name !== "granularity"),
        rows: Option.getOrElse(found, () => []),
        report: yield* reports.usage(accountId, Option.isNone(found) ? {} : asked),
        now: yield* DateTime.now
      }
    }),
  draw: ({ granularity, isWrong, now, report, rows, valid }, ask) => {
    const { t } = ask
    const { query } = tidied(ask, valid)
    const columns = ["date", "metric", "count", "cost_usd"]
    const lines = [columns, ...rows.map(({ cost_usd, count, date, metric }) => [date, metric, count, cost_usd])]
    return {
      title: t.text("usage.title"),
      lead: t.text("usage.lead"),
      curl: query.size === 0 ? "/v1/account/usage/daily" : `/v1/account/usage/daily?${query}`,
      buttons: rows.length > 0 && linkButton(csvHref(ask), t.text("usage.export"), { icon: "download" }),
      ...(wantsCsv(ask) && { file: { name: "usage.csv", lines: Stream.fromIterable(lines.map(csvLine)) } }),
      content: html`<div class="stack">${quotasCard(ask, report.quotas, now)}${
        card(
          t.text("usage.table"),
          html`${periodForm(ask, report.period)}${
            tabs(
              t.text("usage.granularity"),
              Granularity.literals.map((one) => ({
                label: t.text(`usage.${one}`),
                href: withQuery(ask, { granularity: one === "day" ? null : one }),
                isCurrent: one === granularity
              }))
            )
          }${isWrong && note(t.text("usage.wrong"), "bad")}${
            rows.length > 0
              ? rowsOf(ask, rows)
              : !isWrong &&
                emptyState({ icon: "activity", title: t.text("usage.empty.title"), text: t.text("usage.empty.text") })
          }`,
          "usage"
        )
      }${plan(ask)}</div>`
    }
  }
})

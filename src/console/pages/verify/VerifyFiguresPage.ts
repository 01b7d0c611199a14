import { DateTime, Effect } from "effect"
import type { HtmlValue } from "../../../platform/http/html.ts"
import { html } from "../../../platform/http/html.ts"
import { fromDateTime } from "../../../values/Timestamp.ts"
import type { Figures, VerificationStatistics } from "../../../verify/Verification.ts"
import { VerificationFigures } from "../../../verify/VerificationFigures.ts"
import type { Key } from "../../language/Messages.ts"
import { type AccountAsk, type Ask, withQuery } from "../../page/Ask.ts"
import { Page } from "../../page/Page.ts"
import { card, countryName, emptyState, facts, missing, number, share } from "../../ui/parts.ts"
import { span, tabs } from "../../ui/progress.ts"
import { table } from "../../ui/table.ts"
import { crumbs } from "./CodePages.ts"

const ranges = { "24h": 1, "7d": 7, "30d": 30 } as const
type Range = keyof typeof ranges

const names = Object.keys(ranges) as ReadonlyArray<Range>

const rangeIn = ({ query }: Ask): Range => names.find((range) => range === query.get("range")) ?? "7d"

const dollars = ({ t }: Ask, amount: number | null) =>
  amount === null ? missing : new Intl.NumberFormat(t.intl, {
    style: "currency",
    currency: "USD",
    maximumFractionDigits: 4
  }).format(amount)

interface Figure {
  readonly label: Extract<Key, `verify.figures.${string}`>
  /** Whether it has a column of the table, which has room for some. */
  readonly isByCountry?: boolean
  readonly shown: (ask: Ask, figures: Figures) => HtmlValue
}

const counted = (
  label: Figure["label"],
  name: "codes_sent" | "confirmed" | "expired" | "max_attempts" | "wrong_codes"
): Figure => ({
  label,
  shown: (ask, figures) => number(ask, figures[name])
})

const all: ReadonlyArray<Figure> = [
  { ...counted("verify.figures.sent", "codes_sent"), isByCountry: true },
  { ...counted("verify.figures.confirmed", "confirmed"), isByCountry: true },
  counted("verify.figures.expired", "expired"),
  counted("verify.figures.exhausted", "max_attempts"),
  counted("verify.figures.wrong", "wrong_codes"),
  { label: "verify.figures.conversion", isByCountry: true, shown: (ask, { conversion }) => share(ask, conversion) },
  {
    label: "verify.figures.cost",
    isByCountry: true,
    shown: (ask, { cost_per_confirmed_usd }) => dollars(ask, cost_per_confirmed_usd)
  },
  {
    label: "verify.figures.median",
    isByCountry: true,
    shown: (ask, { median_seconds }) => median_seconds === null ? missing : span(ask, median_seconds * 1000)
  }
]

const byCountry = (ask: AccountAsk, rows: VerificationStatistics["by_country"]) => {
  const { t } = ask
  return table(t.text("verify.figures.caption"), [
    { label: t.text("smsPage.country"), cell: ({ country }) => countryName(ask, country) },
    { label: t.text("messages.channel"), cell: ({ channel }) => t.text(`channel.${channel}`) },
    ...all.filter(({ isByCountry = false }) => isByCountry).map(({ label, shown }) => ({
      label: t.text(label),
      kind: "number" as const,
      cell: (row: VerificationStatistics["by_country"][number]) => shown(ask, row)
    }))
  ], rows)
}

/** How many codes were confirmed, by country and channel. */
export const verifyFiguresPage = Page.account({
  path: "/verify/figures",
  permission: "verify:read",
  read: (ask) =>
    Effect.gen(function*() {
      const from = fromDateTime(DateTime.subtract(yield* DateTime.now, { days: ranges[rangeIn(ask)] }))
      const figures = yield* VerificationFigures
      return { from, ...yield* Effect.orDie(figures.read(ask.accountId, { from_date: from })) }
    }),
  draw: ({ by_country, from, total }, ask) => {
    const { t } = ask
    const current = rangeIn(ask)
    const choices = names.map((range) => ({
      label: t.text(`overview.range.${range}`),
      href: withQuery(ask, { range: range === "7d" ? null : range }),
      isCurrent: range === current
    }))
    return {
      title: t.text("verify.figures"),
      lead: t.text("verify.figures.lead"),
      crumbs: crumbs(ask),
      curl: `/v1/verify/statistics?from_date=${from}`,
      content: html`${tabs(t.text("overview.graph.range"), choices)}${
        total.verifications === 0
          ? emptyState({
            icon: "shield-check",
            title: t.text("verify.figures.empty.title"),
            text: t.text("verify.figures.empty.text")
          })
          : html`${
            card(
              t.text("verify.figures.all"),
              facts(all.map(({ label, shown }) => [t.text(label), shown(ask, total)])),
              "all"
            )
          }<h2>${t.text("verify.figures.byCountry")}</h2>${byCountry(ask, by_country)}`
      }`
    }
  }
})

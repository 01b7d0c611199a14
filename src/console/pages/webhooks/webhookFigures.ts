/** How the attempts of webhooks went in the last 24 hours, and what waits. */
import { type Html, html, type HtmlValue } from "../../../platform/http/html.ts"
import type { Webhook } from "../../../webhooks/endpoint/Webhook.ts"
import {
  type AttemptFigures,
  mostWaiting,
  type WebhookStatistics
} from "../../../webhooks/history/WebhookStatistics.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import { columns } from "../../ui/columns.ts"
import { card, facts, missing, moment, number, share } from "../../ui/parts.ts"
import { bar } from "../../ui/progress.ts"
import type { Column } from "../../ui/table.ts"
import { durationOf } from "./deliveryParts.ts"

const shareOf = (ask: Ask, { failed, succeeded }: AttemptFigures): string =>
  share(ask, succeeded + failed === 0 ? null : succeeded / (succeeded + failed))

const waitingOf = (ask: Ask, { waiting }: AttemptFigures): string =>
  `${number(ask, waiting)}${waiting === mostWaiting ? "+" : ""}`

const oldestOf = (ask: Ask, { oldest_waiting_at }: AttemptFigures): HtmlValue =>
  oldest_waiting_at === null ? missing : moment(ask, oldest_waiting_at)

const series = ({ t }: Ask) =>
  [
    { label: t.text("webhooks.figures.succeeded"), tone: "good" },
    { label: t.text("webhooks.figures.failed"), tone: "bad" }
  ] as const

/** The attempts of one webhook by hour, as a card. */
export const figuresCard = (ask: AccountAsk, statistics: WebhookStatistics): Html => {
  const { hourCycle, t, timezone } = ask
  const format = new Intl.DateTimeFormat(t.intl, {
    timeZone: timezone,
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: hourCycle ?? "h23"
  })
  return card(
    t.text("webhooks.figures.title"),
    html`${
      columns(ask, {
        title: t.text("webhooks.figures.graph"),
        time: t.text("overview.graph.hour"),
        total: t.text("deliveries.attempts"),
        show: t.text("overview.graph.table"),
        series: series(ask),
        stacks: statistics.hours.map(({ at, failed, succeeded }) => ({
          label: format.format(Date.parse(at)),
          counts: [succeeded, failed]
        }))
      })
    }${
      facts([
        [t.text("webhooks.figures.share"), shareOf(ask, statistics)],
        [t.text("webhooks.figures.p95"), durationOf(ask, statistics.p95_ms)],
        [t.text("webhooks.figures.waiting"), waitingOf(ask, statistics)],
        [t.text("webhooks.figures.oldest"), oldestOf(ask, statistics)]
      ])
    }`,
    "figures"
  )
}

/** A webhook of the list. */
export type Figured = readonly [webhook: Webhook, figures: AttemptFigures | undefined]

/** The same of each webhook of a list, as columns. A webhook that was removed meanwhile has none. */
export const figureColumns = (ask: AccountAsk): ReadonlyArray<Column<Figured>> => {
  const shown = (label: string, of: (figures: AttemptFigures) => HtmlValue, kind?: "number"): Column<Figured> => ({
    label,
    ...(kind !== undefined && { kind }),
    cell: ([, figures]) => figures === undefined ? missing : of(figures)
  })
  const { t } = ask
  const [good, bad] = series(ask)
  return [
    shown(
      t.text("webhooks.figures.day"),
      (figures) =>
        html`${shareOf(ask, figures)}${
          figures.succeeded + figures.failed > 0 &&
          bar(ask, [{ ...good, count: figures.succeeded }, { ...bad, count: figures.failed }])
        }`
    ),
    shown(t.text("webhooks.figures.p95"), ({ p95_ms }) => durationOf(ask, p95_ms), "number"),
    shown(t.text("webhooks.figures.waiting"), (figures) => waitingOf(ask, figures), "number"),
    shown(t.text("webhooks.figures.oldest"), (figures) => oldestOf(ask, figures))
  ]
}

/** What the pages of deliveries have in common. */
import { eventNames } from "../../../events/EventNames.ts"
import { html } from "../../../platform/http/html.ts"
import type { Position } from "../../../values/Page.ts"
import type { DeliveryStatus } from "../../../webhooks/delivery/DeliveryState.ts"
import type { DeliverySummary } from "../../../webhooks/history/Delivery.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import { badge, code, moment, number, type Tone } from "../../ui/parts.ts"
import { type Column, filterChoice, filterText } from "../../ui/table.ts"
import { webhookPath } from "./webhookParts.ts"

const tones: Readonly<Record<DeliveryStatus, Tone>> = {
  pending: "busy",
  retrying: "warn",
  delivered: "good",
  failed: "bad",
  skipped: "warn"
}

export const statusBadge = ({ t }: Ask, status: DeliveryStatus) =>
  badge(t.text(`delivery.status.${status}`), tones[status])

/** What the endpoint answered, or why it did not. */
export const answerOf = (
  ask: Ask,
  { error, response_code }: Pick<DeliverySummary, "error" | "response_code">
) =>
  html`${response_code !== null && html`${code(String(response_code))} `}${
    error !== null && ask.t.text(`delivery.error.${error}`)
  }${response_code === null && error === null && ask.t.text("common.none")}`

export const durationOf = (ask: Ask, millis: number | null) =>
  millis === null ? ask.t.text("common.none") : ask.t.text("deliveries.millis", { millis: number(ask, millis) })

/** The columns of a list of deliveries. */
export const deliveryColumns = (ask: AccountAsk): ReadonlyArray<Column<DeliverySummary>> => {
  const { t, to } = ask
  return [
    {
      label: t.text("deliveries.created"),
      cell: ({ created_at, id, webhook_id }) =>
        html`<a href="${to(webhookPath(webhook_id, `/deliveries/${id}`))}">${moment(ask, created_at)}</a>`
    },
    {
      label: t.text("deliveries.event"),
      cell: ({ event, is_test }) =>
        html`${code(event)}${is_test && html` ${badge(t.text("deliveries.test"), "quiet")}`}`
    },
    { label: t.text("deliveries.status"), cell: ({ status }) => statusBadge(ask, status) },
    { label: t.text("deliveries.attempts"), kind: "number", cell: ({ attempt_count }) => number(ask, attempt_count) },
    { label: t.text("deliveries.code"), cell: (delivery) => answerOf(ask, delivery) },
    { label: t.text("deliveries.duration"), kind: "number", cell: ({ duration_ms }) => durationOf(ask, duration_ms) }
  ]
}

/** The position of the first page. Behind a position nothing is counted, and no page shows a total. */
export const fromNewest: Position = [Number.MAX_SAFE_INTEGER]

/** The filters of deliveries by their event and by the answer to the last attempt. */
export const eventAndAnswer = (ask: Ask) => {
  const { t } = ask
  return html`${
    filterChoice(ask, {
      name: "event",
      label: t.text("deliveries.event"),
      options: eventNames.map((name) => [name, name])
    })
  }${
    filterText(ask, {
      name: "response_code",
      label: t.text("deliveries.code"),
      hint: t.text("deliveries.codeHint")
    })
  }`
}

/** What the pages of deliveries have in common. */
import { html } from "../../../platform/http/html.ts"
import type { DeliveryStatus } from "../../../webhooks/delivery/DeliveryState.ts"
import type { DeliverySummary } from "../../../webhooks/history/Delivery.ts"
import type { Ask } from "../../page/Ask.ts"
import { badge, code, number, type Tone } from "../../ui/parts.ts"

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

import { Effect } from "effect"
import type { Suppression } from "../../../channels/email/suppressions/Suppression.ts"
import type { Explanation, MessageFacts } from "../../../messages/Explanation.ts"
import type { SummaryChannel } from "../../../messages/MessageSummary.ts"
import { type Html, html } from "../../../platform/http/html.ts"
import { UpstreamOutages } from "../../../platform/work/UpstreamOutages.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import { foreign, momentText, note, type Tone } from "../../ui/parts.ts"
import { span } from "../../ui/progress.ts"
import { toneOf } from "./messageParts.ts"

/** What the sentence about a message names. */
export interface Told extends MessageFacts {
  readonly from: string | null
  readonly opens: number
  readonly clicks: number
  readonly created_at: string
  readonly send_at: string | null
  readonly delivered_at: string | null
  /** When the next attempt is due; null where none is. */
  readonly next_at: string | null
  /** The suppression of its only recipient, if there is one. */
  readonly suppression: Suppression | undefined
}

const afterText = (ask: Ask, { created_at, delivered_at, send_at }: Told) => {
  const { t } = ask
  if (delivered_at === null) return t.text("why.delivered")
  const millis = Date.parse(delivered_at) - Date.parse(send_at ?? created_at)
  return millis < 0 ? t.text("why.delivered") : t.text("why.deliveredAfter", { span: span(ask, millis) })
}

const suppressedText = (ask: Ask, { suppression }: Told) => {
  const { t } = ask
  if (suppression === undefined) return t.text("why.suppressed")
  return t.text("why.suppressedSince", {
    address: suppression.email,
    when: momentText(ask, suppression.created_at),
    reason: t.text(`why.because.${suppression.reason}`)
  })
}

/** What became of a message and why, in one sentence. */
export const sentenceOf = (ask: Ask, { code }: Explanation, told: Told): string => {
  const { t } = ask
  switch (code) {
    case "scheduled":
      return told.send_at === null
        ? t.text("why.waits")
        : t.text("why.scheduled", { when: momentText(ask, told.send_at) })
    case "deferred":
      return told.next_at === null
        ? t.text("why.deferred")
        : t.text("why.deferredUntil", { when: momentText(ask, told.next_at) })
    case "relay_away":
    case "carrier_away":
      return t.text(`attention.${code}`)
    case "accepted":
    case "refused":
      return t.text(`why.${code}.${told.channel}`)
    case "delivered":
      return afterText(ask, told)
    case "opened":
      return t.text("why.opened", { count: Math.max(1, told.opens) })
    case "clicked":
      return t.text("why.clicked", { count: Math.max(1, told.clicks) })
    case "received":
      return t.text("why.received", { from: told.from ?? "" })
    case "suppressed":
      return suppressedText(ask, told)
    default:
      return t.text(`why.${code}`)
  }
}

/** Whether some node cannot reach what passes on the live messages of a channel. */
export const awayOf = Effect.fnUntraced(function*({ mode }: AccountAsk, channel: SummaryChannel) {
  if (mode === "test" || channel === "whatsapp") return false
  const outages = yield* (yield* UpstreamOutages).current
  return outages.some(({ upstream }) => upstream === (channel === "email" ? "relay" : "carrier"))
})

/** A message that waits for its next attempt, or for what passes it on. */
const warned: ReadonlySet<Explanation["code"]> = new Set(["deferred", "relay_away", "carrier_away"])

/** The first line of a message. */
export const explained = (ask: Ask, explanation: Explanation, told: Told): Html => {
  const tone: Tone = warned.has(explanation.code) ? "warn" : toneOf(told.status)
  return html`<div class="why">${
    note(
      html`${sentenceOf(ask, explanation, told)}${
        explanation.reason !== null &&
        html` <span class="said">${ask.t.text("message.said")} ${foreign(explanation.reason)}</span>`
      }`,
      tone
    )
  }</div>`
}

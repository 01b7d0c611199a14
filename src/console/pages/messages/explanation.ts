import { Effect, Option } from "effect"
import type { Suppression } from "../../../channels/email/suppressions/Suppression.ts"
import type { Session } from "../../../channels/whatsapp/model/Session.ts"
import { isPaced } from "../../../channels/whatsapp/outbox/SendRate.ts"
import { Sessions } from "../../../channels/whatsapp/sessions/Sessions.ts"
import { DomainRegistrations } from "../../../email-domains/DomainRegistrations.ts"
import type { EmailDomain } from "../../../email-domains/EmailDomain.ts"
import { explain, type Explanation, type Hold, type MessageFacts } from "../../../messages/Explanation.ts"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { type Html, html, type HtmlValue } from "../../../platform/http/html.ts"
import { UpstreamOutages } from "../../../platform/work/UpstreamOutages.ts"
import { WhatsAppSessionId } from "../../../values/Ids.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import { foreign, momentText, note, type Tone } from "../../ui/parts.ts"
import { span } from "../../ui/progress.ts"
import { toneOf } from "./messageParts.ts"

/** What a message depends on besides its record. */
export interface Surroundings {
  /** What it waits for, while it is queued. */
  readonly hold: Hold | null
  /** The session of a WhatsApp message that waits or failed, while there is one. */
  readonly session: Pick<Session, "id" | "name"> | undefined
  /** The domain of the sender that a failed email lacked, while the account has it. */
  readonly domain: Pick<EmailDomain, "id"> | undefined
}

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

/** A message waits for its session, whatever the session's state is. */
const sessionText = (
  { t }: Ask,
  state: "session_failed" | "session_disconnected" | "session_unpaired",
  { session }: Surroundings
) => `${t.text(`attention.${state}`, { name: session?.name ?? "" })} ${t.text("why.untilConnected")}`

/** What became of a message and why. */
export const sentenceOf = (
  ask: Ask,
  { code }: Pick<Explanation, "code">,
  { around, told }: { readonly told: Told; readonly around: Surroundings }
): string => {
  const { t } = ask
  switch (code) {
    case "session_failed":
    case "session_disconnected":
      return sessionText(ask, code, around)
    case "session_pending":
      return sessionText(ask, "session_unpaired", around)
    case "paced":
      return t.text("why.paced", { name: around.session?.name ?? "" })
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
      return told.from === null ? t.text("why.receivedHidden") : t.text("why.received", { from: told.from })
    case "suppressed":
      return suppressedText(ask, told)
    default:
      return t.text(`why.${code}`)
  }
}

/** What passes on the live messages of a channel, if some node cannot reach it. */
export const awayOf = Effect.fnUntraced(function*({ mode }: AccountAsk, channel: "email" | "sms") {
  if (mode === "test") return null
  const outages = yield* (yield* UpstreamOutages).current
  const name = channel === "email" ? "relay" : "carrier"
  return outages.some(({ upstream }) => upstream === name) ? `${name}_away` as const : null
})

const sessionHold = Effect.fnUntraced(function*(status: Session["status"] | undefined) {
  if (status === undefined) return null
  if (status !== "connected") return `session_${status}` as const
  return isPaced(yield* AppConfig) ? "paced" : null
})

/** Reads what the explanation of a message needs besides its record. A message that has ended otherwise needs nothing. */
export const surroundingsOf = Effect.fnUntraced(
  function*(ask: AccountAsk, told: Told, sessionId: number | null) {
    const { accountId } = ask
    const { channel, from, status } = told
    const isQueued = status === "queued"
    const found = channel === "whatsapp" && sessionId !== null && (isQueued || status === "failed")
      ? yield* Effect.option((yield* Sessions).find({ accountId, id: WhatsAppSessionId.make(sessionId) }))
      : Option.none()
    const session = Option.getOrUndefined(found)
    const domains = channel === "email" && explain(told, null).fix === "domain"
      ? yield* (yield* DomainRegistrations).list(accountId)
      : []
    const hold: Hold | null = !isQueued
      ? null
      : channel === "whatsapp"
      ? yield* sessionHold(session?.status)
      : yield* awayOf(ask, channel)
    const around: Surroundings = {
      hold,
      session,
      domain: domains.find(({ domain }) => from?.replace(/>$/, "").endsWith(`@${domain}`) === true)
    }
    return around
  }
)

/** A message that waits for its next attempt, or for what passes it on. */
const warned: ReadonlySet<Explanation["code"]> = new Set([
  "deferred",
  "relay_away",
  "carrier_away",
  "session_pending",
  "session_disconnected",
  "session_failed"
])

/** The first line of a message, and below it what a person can do. */
export const explained = (
  ask: Ask,
  { code, isQuoted, reason }: Explanation,
  { around, fix, told }: { readonly told: Told; readonly around: Surroundings; readonly fix: HtmlValue }
): Html => {
  const tone: Tone = warned.has(code) ? "warn" : toneOf(told.status)
  const label = ask.t.text(isQuoted ? "message.said" : "message.details")
  return html`<div class="why">${
    note(
      html`${sentenceOf(ask, { code }, { told, around })}${
        reason !== null && html` <span class="said">${label} ${foreign(reason)}</span>`
      }`,
      tone
    )
  }${fix !== false && html`<div class="buttons">${fix}</div>`}</div>`
}

import type { AnyStatus, SummaryChannel } from "./MessageSummary.ts"

/** What the record of a message says about its end. */
export interface MessageFacts {
  readonly channel: SummaryChannel
  readonly status: AnyStatus
  /** The code of an SMS or a WhatsApp message that failed. A provider may have its own. */
  readonly errorCode: string | null
  /** What the other side said, in its own words. */
  readonly error: string | null
  readonly bounceType: "hard" | "soft" | null
}

/** What became of a message, and why. */
export interface Explanation {
  readonly code:
    | "scheduled"
    | "waits"
    | "relay_away"
    | "carrier_away"
    | "deferred"
    | "accepted"
    | "delivered"
    | "opened"
    | "clicked"
    | "read"
    | "received"
    | "complained"
    | "suppressed"
    | "canceled"
    | "bounced"
    | "refused_for_now"
    | "not_on_channel"
    | "group_unknown"
    | "session_gone"
    | "content_gone"
    | "media"
    | "expired"
    | "unconfirmed"
    | "refused"
  /** The words of the other side; null where it said nothing that matters. */
  readonly reason: string | null
}

/** The codes of our own that have an explanation. Every other one is a refusal of the other side. */
const failures: ReadonlyMap<string, Explanation["code"]> = new Map([
  ["recipient_not_on_whatsapp", "not_on_channel"],
  ["group_unknown", "group_unknown"],
  ["session_deleted", "session_gone"],
  ["session_logged_out", "session_gone"],
  ["content_gone", "content_gone"],
  ["not_acknowledged", "unconfirmed"],
  ["outcome_unknown", "unconfirmed"],
  ["expired", "expired"]
])

const failureOf = (code: string | null): Explanation["code"] =>
  code?.startsWith("media_") === true ? "media" : failures.get(code ?? "") ?? "refused"

const away: Readonly<Partial<Record<SummaryChannel, Explanation["code"]>>> = {
  email: "relay_away",
  sms: "carrier_away"
}

/**
 * Explains what became of a message. Total: every record has exactly one explanation. `isAway` says whether the relay or the
 * carrier of its channel cannot be reached now.
 */
export const explain = (
  { bounceType, channel, error, errorCode, status }: MessageFacts,
  isAway: boolean
): Explanation => {
  const reason = error === "" ? null : error
  switch (status) {
    case "scheduled":
      return { code: "scheduled", reason: null }
    case "queued": {
      const code = isAway ? away[channel] : undefined
      if (code !== undefined) return { code, reason }
      return reason === null ? { code: "waits", reason } : { code: "deferred", reason }
    }
    case "sent":
      return { code: "accepted", reason: null }
    case "bounced":
      return { code: bounceType === "soft" ? "refused_for_now" : "bounced", reason }
    case "failed":
      return { code: failureOf(errorCode), reason }
    case "canceled":
      return { code: "canceled", reason }
    default:
      // The status itself is the explanation.
      return { code: status, reason: null }
  }
}

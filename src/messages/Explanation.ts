import type { AnyStatus, SummaryChannel } from "./MessageSummary.ts"
import type { Obstacle } from "./scheduledRows.ts"

/** What the record of a message says about its end. */
export interface MessageFacts {
  readonly channel: SummaryChannel
  readonly status: AnyStatus
  /** The code of a message that failed. A provider may have its own. */
  readonly errorCode: string | null
  /** What the other side said, or what the service noted. */
  readonly error: string | null
  readonly bounceType: "hard" | "soft" | null
}

/** What a queued message waits for. */
export type Hold =
  | "relay_away"
  | "carrier_away"
  | "session_pending"
  | "session_disconnected"
  | "session_failed"
  | "paced"

type Code =
  | Hold
  | Obstacle
  | "scheduled"
  | "waits"
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
  | "session_deleted"
  | "session_logged_out"
  | "content_gone"
  | "media"
  | "not_composed"
  | "not_signed"
  | "unsendable"
  | "expired"
  | "undelivered"
  | "unconfirmed"
  | "refused"

/** What a person can do about it: a page that mends the cause, or the message once more. */
export type Fix = "again" | "as_sms" | "domain" | "groups" | "session" | "unsuppress" | "usage"

/** What became of a message, and why. */
export interface Explanation {
  readonly code: Code
  /** More than the code says; null where it says all. */
  readonly reason: string | null
  /** The reason has the words of the other side, not those of the service. */
  readonly isQuoted: boolean
  /** Null where nothing has to be mended, or where a person cannot do it. */
  readonly fix: Fix | null
}

type Aspects = readonly [reason: "quoted" | "own" | "none", fix: Fix | null]

const nothing: Aspects = ["none", null]

const aspects: Readonly<Record<Code, Aspects>> = {
  scheduled: nothing,
  waits: nothing,
  paced: nothing,
  relay_away: ["own", null],
  carrier_away: ["own", null],
  session_pending: ["none", "session"],
  session_disconnected: ["none", "session"],
  session_failed: ["none", "session"],
  deferred: ["own", null],
  accepted: nothing,
  delivered: nothing,
  opened: nothing,
  clicked: nothing,
  read: nothing,
  received: nothing,
  complained: nothing,
  suppressed: ["none", "unsuppress"],
  canceled: ["own", null],
  bounced: ["quoted", "again"],
  refused_for_now: ["quoted", "again"],
  not_on_channel: ["none", "as_sms"],
  group_unknown: ["none", "groups"],
  session_deleted: ["none", "again"],
  session_logged_out: ["none", "session"],
  content_gone: ["none", "again"],
  media: ["own", "again"],
  not_composed: ["none", "again"],
  not_signed: ["own", "domain"],
  unsendable: ["own", "again"],
  account_deleted: nothing,
  address_unconfirmed: nothing,
  subscription_expired: ["none", "usage"],
  subscription_required: ["none", "usage"],
  sender_not_verified: ["none", "domain"],
  expired: ["own", "again"],
  undelivered: ["quoted", "again"],
  // It may have arrived, so nothing asks for a repetition.
  unconfirmed: ["own", null],
  refused: ["quoted", "again"]
}

/** The codes of failures that are not a refusal of the other side. */
const failures: ReadonlyMap<string, Code> = new Map([
  ["recipient_not_on_whatsapp", "not_on_channel"],
  ["group_unknown", "group_unknown"],
  ["session_deleted", "session_deleted"],
  ["session_logged_out", "session_logged_out"],
  ["content_gone", "content_gone"],
  ["not_composed", "not_composed"],
  ["not_signed", "not_signed"],
  ["unsendable", "unsendable"],
  ["not_acknowledged", "unconfirmed"],
  ["outcome_unknown", "unconfirmed"],
  ["expired", "expired"],
  ["undeliverable", "undelivered"],
  ["deleted", "undelivered"],
  ["account_deleted", "account_deleted"],
  ["address_unconfirmed", "address_unconfirmed"],
  ["subscription_expired", "subscription_expired"],
  ["subscription_required", "subscription_required"],
  ["sender_not_verified", "sender_not_verified"]
])

const failureOf = (code: string | null): Code =>
  code?.startsWith("media_") === true ? "media" : failures.get(code ?? "") ?? "refused"

const codeOf = ({ bounceType, error, errorCode, status }: MessageFacts, hold: Hold | null): Code => {
  switch (status) {
    case "queued":
      return hold ?? (error === null || error === "" ? "waits" : "deferred")
    case "sent":
      return "accepted"
    case "bounced":
      return bounceType === "soft" ? "refused_for_now" : "bounced"
    case "failed":
      return failureOf(errorCode)
    default:
      // The status itself is the explanation.
      return status
  }
}

/** Explains what became of a message. Total: every record has exactly one explanation. `hold` matters while it is queued. */
export const explain = (facts: MessageFacts, hold: Hold | null): Explanation => {
  const code = codeOf(facts, hold)
  const [reason, fix] = aspects[code]
  const isGiven = reason !== "none" && facts.error !== ""
  return { code, reason: isGiven ? facts.error : null, isQuoted: reason === "quoted", fix }
}

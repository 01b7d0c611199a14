import { Schema } from "effect"

/** The status of one recipient's message, as the API shows it. A message that is being sent shows as queued. */
export const RecipientStatus = Schema.Literals([
  "scheduled",
  "queued",
  "sent",
  "delivered",
  "opened",
  "clicked",
  "bounced",
  "complained",
  "failed",
  "suppressed",
  "canceled"
])
export type RecipientStatus = typeof RecipientStatus.Type

/** The status of a message: its recipient's status, or `sending` while a node sends it. */
export type MessageStatus = RecipientStatus | "sending"

/**
 * SQL: statuses by rising weight. The status of an email to several addresses is the heaviest that any of them has.
 */
export const weights = `array['canceled', 'suppressed', 'failed', 'bounced', 'sent', 'delivered', 'opened', 'clicked',
  'complained', 'scheduled', 'queued', 'sending']`

/** The statuses in the indexes `email_messages_rare_records` and `messages_rare`. */
export const rareStatuses: ReadonlySet<string> = new Set(["bounced", "complained", "failed", "suppressed", "canceled"])

/** A status that a message reaches after the relay has accepted it. */
export type LaterStatus = "delivered" | "opened" | "clicked" | "bounced" | "complained"

/** The change that a later status makes to a message. */
export interface Advance {
  readonly status: LaterStatus
  /** The relay's acceptance was not recorded yet. The later status proves it, so email.sent is published first. */
  readonly impliesSent: boolean
  /** The message still counted as queued, so its batch counts it as sent now. Every other message was counted before. */
  readonly countsAsSent: boolean
}

/**
 * How far along a message is. The same reports lead to the same status in any order: the furthest one. A bounce ranks
 * above opens and clicks, because scanners follow every link before a missing mailbox refuses the message.
 */
const rank: Readonly<Record<MessageStatus, number>> = {
  scheduled: 0,
  queued: 0,
  sending: 0,
  failed: 0,
  suppressed: 0,
  canceled: 0,
  sent: 1,
  delivered: 2,
  opened: 3,
  clicked: 4,
  bounced: 5,
  complained: 6
}

/** How far a message has come. */
export interface Reached {
  readonly status: MessageStatus
  /** A mail server has reported its delivery. */
  readonly was_delivered: boolean
}

/**
 * Moves a message forward, or returns undefined if it is that far already. Total: a message never goes backwards. The report
 * of a delivery may come after an open or a click. It then counts, and the status stays.
 */
export const advance = ({ status, was_delivered }: Reached, next: LaterStatus): Advance | undefined => {
  if (next === "delivered" && !was_delivered && (status === "opened" || status === "clicked")) {
    return { status, impliesSent: false, countsAsSent: false }
  }
  return rank[next] <= rank[status] ? undefined : {
    status: next,
    impliesSent: rank[status] < rank.sent,
    countsAsSent: status === "scheduled" || status === "queued" || status === "sending"
  }
}

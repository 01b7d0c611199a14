import type { RecipientStatus } from "../bulk/Batch.ts"

/** Where a message is: what its recipient's row says, and `sending` while it is in the hands of its sender. */
export type MessageStatus = typeof RecipientStatus.Type | "sending"

/** Something that is learnt of a message after it was handed over, from others than the relay. */
export type News = "delivered" | "opened" | "clicked" | "bounced" | "complained"

/** What news make of a message. */
export interface Advanced {
  readonly status: News
  /** It was not known yet that the relay has the message; as there is no news without that, it is news as well. */
  readonly impliesSent: boolean
  /** It still counted as queued, so it counts as sent from now on. Every other one was counted when it was settled. */
  readonly countsAsSent: boolean
}

/**
 * How far along a message is. The same facts give the same end in whatever order they come: the furthest one. A bounce
 * goes past opens and clicks, as scanners follow every link of a message before a mailbox that does not exist refuses it.
 */
const rank: Readonly<Record<MessageStatus, number>> = {
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

/** A message after news of it, or undefined when it is that far already. Total; a message never goes backwards. */
export const advance = (status: MessageStatus, news: News): Advanced | undefined =>
  rank[news] <= rank[status] ? undefined : {
    status: news,
    impliesSent: rank[status] < rank.sent,
    countsAsSent: status === "queued" || status === "sending"
  }

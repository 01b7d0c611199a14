/** Where a message is: what its row says. */
export type SmsStatus = "queued" | "sent" | "delivered" | "failed" | "canceled"

/** How many parts a message has, and how many of them are how far. `sent` counts those that are delivered as well. */
export interface PartCounts {
  readonly parts: number
  readonly sent: number
  readonly delivered: number
  readonly failed: number
}

/** What the parts of a message make of it. */
export interface Advanced {
  readonly status: "sent" | "delivered" | "failed"
  /** Its dispatch has not been told yet, and is told first. */
  readonly impliesSent: boolean
  /** It counted as queued in its batch, and counts as sent or failed from now on. */
  readonly leavesQueue: boolean
}

/**
 * A message after news of its parts, or undefined when it stays where it is: sent when all parts are, delivered when all
 * are, failed as soon as one is, for no handset shows the rest. Total; what is delivered or failed stays so.
 */
export const advance = (status: SmsStatus, { delivered, failed, parts, sent }: PartCounts): Advanced | undefined => {
  if (status === "delivered" || status === "failed" || status === "canceled") return undefined
  const queued = status === "queued"
  if (failed > 0) return { status: "failed", impliesSent: false, leavesQueue: queued }
  if (delivered >= parts) return { status: "delivered", impliesSent: queued, leavesQueue: queued }
  return queued && sent >= parts ? { status: "sent", impliesSent: false, leavesQueue: true } : undefined
}

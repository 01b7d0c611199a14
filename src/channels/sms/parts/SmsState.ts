/** The status of a message. */
export type SmsStatus = "queued" | "sent" | "delivered" | "failed" | "canceled"

/** How many parts a message has, and how many of them have each status. `sent` includes the delivered ones. */
export interface PartCounts {
  readonly parts: number
  readonly sent: number
  readonly delivered: number
  readonly failed: number
}

/** The next status of a message. */
export interface Advance {
  readonly status: "sent" | "delivered" | "failed"
  /** `message.sent` was not published yet, and is published first. */
  readonly impliesSent: boolean
  /** It counted as queued in its batch, and now counts as sent or failed. */
  readonly leavesQueue: boolean
}

/**
 * The next status of a message whose parts have changed; undefined when it keeps its status. A message is sent or
 * delivered when all its parts are, and failed when one is: no handset shows the rest. `delivered` and `failed` are final.
 */
export const advance = (status: SmsStatus, { delivered, failed, parts, sent }: PartCounts): Advance | undefined => {
  if (status === "delivered" || status === "failed" || status === "canceled") return undefined
  const queued = status === "queued"
  if (failed > 0) return { status: "failed", impliesSent: false, leavesQueue: queued }
  if (delivered >= parts) return { status: "delivered", impliesSent: queued, leavesQueue: queued }
  return queued && sent >= parts ? { status: "sent", impliesSent: false, leavesQueue: true } : undefined
}

/** How far a message has come; `written` is what went into a connection and was not acknowledged. */
export type OutboxStatus = "queued" | "written" | "sent" | "delivered" | "read" | "failed"

/** What is heard of a message: from the server, from the phones of its chat, or that it cannot be sent. */
export type Heard = "sent" | "delivered" | "read" | "failed"

/** What a message is after news, and what is told of it, in this order. */
export interface Advanced {
  readonly status: Heard
  readonly told: ReadonlyArray<Heard>
  /** It counted as queued in its batch, and counts as sent or failed from now on. */
  readonly leavesQueue: boolean
}

const way: ReadonlyArray<Heard> = ["sent", "delivered", "read"]

/**
 * A message after news, or undefined when it stays where it is. Never backwards: later news implies what was not heard
 * before it, and nothing fails that was delivered. Total.
 */
export const advance = (status: OutboxStatus, heard: Heard): Advanced | undefined => {
  const isQueued = status === "queued" || status === "written"
  if (heard === "failed") {
    return isQueued || status === "sent" ? { status: "failed", told: ["failed"], leavesQueue: isQueued } : undefined
  }
  if (status === "failed") return undefined
  const from = isQueued ? 0 : way.indexOf(status) + 1
  const told = way.slice(from, way.indexOf(heard) + 1)
  return told.length === 0 ? undefined : { status: heard, told, leavesQueue: isQueued }
}

import { childrenOf, isValidId, type Stanza } from "../wire/Stanza.ts"

/** The status of a message in the outbox. `written`: written to a connection, and not acknowledged yet. */
export type OutboxStatus = "scheduled" | "queued" | "written" | "sent" | "delivered" | "read" | "failed"

/** A status that the server or the phones of the chat report, or `failed` if the message cannot be sent. */
export type ReportedStatus = "sent" | "delivered" | "read" | "failed"

/** The effect of a status update on a message. */
export interface Transition {
  readonly status: ReportedStatus
  /** The statuses to publish, in this order. */
  readonly published: ReadonlyArray<ReportedStatus>
  /** The batch counted the message as queued and counts it as sent or failed from now on. */
  readonly leavesQueue: boolean
}

const order: ReadonlyArray<ReportedStatus> = ["sent", "delivered", "read"]

/**
 * Applies a reported status; undefined if it changes nothing. A status never goes back, a later one implies the ones that
 * were not reported, and a delivered message cannot fail. Total.
 */
export const transition = (status: OutboxStatus, reported: ReportedStatus): Transition | undefined => {
  const isQueued = status === "scheduled" || status === "queued" || status === "written"
  if (reported === "failed") {
    return isQueued || status === "sent"
      ? { status: "failed", published: ["failed"], leavesQueue: isQueued }
      : undefined
  }
  if (status === "failed") return undefined
  const from = isQueued ? 0 : order.indexOf(status) + 1
  const published = order.slice(from, order.indexOf(reported) + 1)
  return published.length === 0 ? undefined : { status: reported, published, leavesQueue: isQueued }
}

const statusByType: ReadonlyMap<string, "delivered" | "read"> = new Map([
  ["", "delivered"],
  ["inactive", "delivered"],
  ["read", "read"],
  ["played", "read"]
])

/**
 * The status that a receipt reports, and the messages it is about; undefined if it reports none. A receipt with
 * `recipient` comes from another device of the same phone, and other types concern devices, not messages. In a group the
 * first member's receipt counts.
 */
export const receiptStatus = (receipt: Stanza) => {
  const { id, recipient, type = "" } = receipt.attrs
  const status = statusByType.get(type)
  if (status === undefined || recipient !== undefined || id === undefined) return undefined
  const items = childrenOf(receipt).flatMap((child) => child.tag === "list" ? childrenOf(child) : [])
  const others = items.flatMap(({ attrs }) => attrs["id"] === undefined ? [] : [attrs["id"]])
  // An invalid id belongs to no message, and it would break the statement that it shares with other sessions.
  return { status, ids: [id, ...others].filter(isValidId) }
}

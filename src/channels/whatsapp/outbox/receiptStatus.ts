import { childrenOf, type Stanza } from "../wire/Stanza.ts"
import { isSoundName } from "../wire/validIds.ts"

const heardIn: ReadonlyMap<string, "delivered" | "read"> = new Map([
  ["", "delivered"],
  ["inactive", "delivered"],
  ["read", "read"],
  ["played", "read"]
])

/**
 * What a receipt says of messages of ours, and of which. A receipt with `recipient` comes from another device of the same
 * phone; the other types are words between devices and say nothing of the message. In a group the first member counts.
 */
export const receiptNews = (receipt: Stanza) => {
  const { id, recipient, type = "" } = receipt.attrs
  const heard = heardIn.get(type)
  if (heard === undefined || recipient !== undefined || id === undefined) return undefined
  const items = childrenOf(receipt).flatMap((child) => child.tag === "list" ? childrenOf(child) : [])
  const others = items.flatMap(({ attrs }) => attrs["id"] === undefined ? [] : [attrs["id"]])
  // Of one that can be none there is no message, and those of other sessions are asked for in the same statement.
  return { heard, ids: [id, ...others].filter(isSoundName) }
}

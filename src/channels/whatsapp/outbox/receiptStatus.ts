import { childrenOf, isValidId, type Stanza } from "../wire/Stanza.ts"

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

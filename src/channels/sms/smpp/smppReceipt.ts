import type { Delivered } from "./smppMessages.ts"

/** How a carrier writes message ids: in its answers to submits, and then in its receipts. */
export type MessageIdForm = "as-is" | "hex-then-decimal" | "decimal-then-hex"

/** What a receipt says of a part. `pending` settles nothing. */
export interface CarrierReceipt {
  readonly id: string
  readonly state: "delivered" | "failed" | "pending"
  /** Of one that failed, a word that programs know. */
  readonly code: string
  /** What the carrier wrote. */
  readonly detail: string
}

/** Of 5.2.28, by its number. */
const states: ReadonlyMap<number, string> = new Map([
  [1, "ENROUTE"],
  [2, "DELIVRD"],
  [3, "EXPIRED"],
  [4, "DELETED"],
  [5, "UNDELIV"],
  [6, "ACCEPTD"],
  [7, "UNKNOWN"],
  [8, "REJECTD"]
])

/** By the first letters, as some carriers write the word in full. */
const failures: ReadonlyArray<readonly [start: string, code: string]> = [
  ["EXPIRED", "expired"],
  ["DELETED", "deleted"],
  ["UNDELIV", "undeliverable"],
  ["REJECT", "rejected"],
  ["FAILED", "undeliverable"]
]

const judged = (state: string): Pick<CarrierReceipt, "state" | "code"> => {
  const word = state.toUpperCase()
  if (word.startsWith("DELIV")) return { state: "delivered", code: "" }
  const failure = failures.find(([start]) => word.startsWith(start))
  return failure === undefined ? { state: "pending", code: "" } : { state: "failed", code: failure[1] }
}

/** An id as it is compared: in converting forms a decimal number without leading zeros, and as it is where it is none. */
const canonical = (id: string, form: "as-is" | "hex" | "decimal"): string => {
  if (form === "hex" && /^[\da-f]{1,40}$/i.test(id)) return BigInt(`0x${id}`).toString()
  return form === "decimal" && /^\d{1,40}$/.test(id) ? BigInt(id).toString() : id
}

/** The id of an answer to a submit as it is stored. */
export const submittedId = (id: string, form: MessageIdForm): string =>
  canonical(id, form === "as-is" ? "as-is" : form === "hex-then-decimal" ? "hex" : "decimal")

/** A field of a receipt's text, wherever it stands; what follows `text:` is the message's own. */
const fieldOf = (text: string, name: string): string | undefined =>
  new RegExp(`(?:^|\\s)${name}:\\s*(\\S+)`, "i").exec(text)?.[1]

/** Marks a delivery receipt (5.2.12). Some carriers forget it. */
const receiptBit = 0x04

/**
 * Reads a receipt in every shape that carriers send: optional parameters, or a text with its fields in any order. Total;
 * undefined for what is none. The optional id is written as in the answer to the submit, the text's in a form of its own.
 */
export const readReceipt = (
  { esmClass, messageState, receiptedId, text: whole }: Delivered,
  form: MessageIdForm
): CarrierReceipt | undefined => {
  const text = whole.replace(/(?:^|\s)text:[^]*$/i, "")
  const written = fieldOf(text, "id")
  const said = fieldOf(text, "stat")
  if ((esmClass & receiptBit) === 0 && receiptedId === undefined && (written === undefined || said === undefined)) {
    return undefined
  }
  const isTextFirst = form !== "as-is" && written !== undefined
  const tagged = receiptedId === undefined || receiptedId === "" ? undefined : submittedId(receiptedId, form)
  const read = written === undefined
    ? undefined
    : canonical(written, form === "as-is" ? "as-is" : form === "hex-then-decimal" ? "decimal" : "hex")
  const id = isTextFirst ? read : tagged ?? read
  const state = (messageState === undefined ? undefined : states.get(messageState)) ?? said
  if (id === undefined || state === undefined) return undefined
  const error = fieldOf(text, "err")
  const detail = `${state.slice(0, 20)}${error === undefined ? "" : `, error ${error.slice(0, 20)}`}`
  return { id: id.slice(0, 100), ...judged(state), detail }
}

import type { Delivered } from "./smppMessages.ts"

/** How a carrier writes message ids: in its responses to submits, and in its receipts. */
export type MessageIdForm = "as-is" | "hex-then-decimal" | "decimal-then-hex"

/** The status of a part in a receipt. `pending` is not final. */
export interface CarrierReceipt {
  readonly id: string
  readonly state: "delivered" | "failed" | "pending"
  /** The error code of a failed part. */
  readonly code: string
  /** The carrier's words. */
  readonly detail: string
}

/** The states of message_state (5.2.28) by number. */
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

/** Failures by their first letters, because some carriers write the whole word. */
const failures: ReadonlyArray<readonly [start: string, code: string]> = [
  ["EXPIRED", "expired"],
  ["DELETED", "deleted"],
  ["UNDELIV", "undeliverable"],
  ["REJECT", "rejected"],
  ["FAILED", "undeliverable"]
]

const classify = (state: string): Pick<CarrierReceipt, "state" | "code"> => {
  const word = state.toUpperCase()
  if (word.startsWith("DELIV")) return { state: "delivered", code: "" }
  const failure = failures.find(([start]) => word.startsWith(start))
  return failure === undefined ? { state: "pending", code: "" } : { state: "failed", code: failure[1] }
}

/** The form of an id for comparison. The converting forms make it a decimal number without leading zeros, if it is a number. */
const canonical = (id: string, form: "as-is" | "hex" | "decimal"): string => {
  if (form === "hex" && /^[\da-f]{1,40}$/i.test(id)) return BigInt(`0x${id}`).toString()
  return form === "decimal" && /^\d{1,40}$/.test(id) ? BigInt(id).toString() : id
}

/** The stored form of an id from the response to a submit. */
export const submittedId = (id: string, form: MessageIdForm): string =>
  canonical(id, form === "as-is" ? "as-is" : form === "hex-then-decimal" ? "hex" : "decimal")

/** A field of a receipt's text, in any position. */
const fieldOf = (text: string, name: string): string | undefined =>
  new RegExp(`(?:^|\\s)${name}:\\s*(\\S+)`, "i").exec(text)?.[1]

/** Marks a delivery receipt (5.2.12). Some carriers omit it. */
const receiptBit = 0x04

/**
 * Reads a receipt in every form that carriers send: optional parameters, or a text with fields in any order. It is total:
 * a message that is not a receipt gives undefined. The id of the optional parameter has the form of the submit's response;
 * the id in the text has the other form.
 */
export const readReceipt = (
  { esmClass, messageState, receiptedId, text: fullText }: Delivered,
  form: MessageIdForm
): CarrierReceipt | undefined => {
  // The fields end at `text:`, which quotes the message.
  const text = fullText.replace(/(?:^|\s)text:[^]*$/i, "")
  const textId = fieldOf(text, "id")
  const textState = fieldOf(text, "stat")
  if ((esmClass & receiptBit) === 0 && receiptedId === undefined && (textId === undefined || textState === undefined)) {
    return undefined
  }
  const prefersText = form !== "as-is" && textId !== undefined
  const parameterId = receiptedId === undefined || receiptedId === "" ? undefined : submittedId(receiptedId, form)
  const readId = textId === undefined
    ? undefined
    : canonical(textId, form === "as-is" ? "as-is" : form === "hex-then-decimal" ? "decimal" : "hex")
  const id = prefersText ? readId : parameterId ?? readId
  const state = (messageState === undefined ? undefined : states.get(messageState)) ?? textState
  if (id === undefined || state === undefined) return undefined
  const error = fieldOf(text, "err")
  const detail = `${state.slice(0, 20)}${error === undefined ? "" : `, error ${error.slice(0, 20)}`}`
  return { id: id.slice(0, 100), ...classify(state), detail }
}

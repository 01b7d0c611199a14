import { type Fields, first, parseFields } from "./fields.ts"

/** What a delivery report says of one recipient (RFC 3464 2.3). */
export interface ReportedRecipient {
  /** `relayed`, `expanded` and `delayed` say nothing final, nor does a word that nobody defined. */
  readonly action: "failed" | "delivered" | "other"
  /** The RFC 3463 status, undefined when there is none that can be read. */
  readonly status: string | undefined
  /** The mail server's answer, empty when there is none. */
  readonly diagnostic: string
  /** Original and final recipient, as far as they are named, in lower case. */
  readonly addresses: ReadonlyArray<string>
  /** The one that this was about in the end, in lower case: another than the original where the mail was forwarded. */
  readonly finalAddresses: ReadonlyArray<string>
}

/** A mail to one of our addresses as far as it is a report. */
export type Report =
  | { readonly _tag: "Delivery"; readonly recipients: ReadonlyArray<ReportedRecipient> }
  /** A complaint (RFC 5965); `hints` are the values that can carry a token of ours. */
  | { readonly _tag: "Feedback"; readonly type: string; readonly hints: ReadonlyArray<string> }
  | { readonly _tag: "None" }

/** Far more than any mail server writes about one message to one recipient. */
const mostRecipients = 1_000

/** A report has some kilobytes; what comes after this is no part of it. */
const longestReport = 262_144

/** With its type and a comment. */
const longestAddress = 512

const word = (value: string) => /^[\w-]+/.exec(value)?.[0].toLowerCase() ?? ""

// RFC 3461 4: `+2B` in an ORCPT stands for a plus sign. Some servers pass it on as it came.
const decodeXtext = (text: string) =>
  text.replaceAll(/\+([0-9A-F]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

/** `rfc822; <Ada@example.com> (comment)`: any case, with or without the type. */
const addressesOf = (value: string): ReadonlyArray<string> => {
  const address = value.slice(0, longestAddress).replace(/^\s*[\w-]+\s*;/, "").replace(/\([^)]*\)\s*$/, "").trim()
    .replaceAll(/^<|>$/g, "")
  if (address === "") return []
  const plain = address.toLowerCase()
  return [...new Set([plain, decodeXtext(plain)])]
}

const recipientOf = (fields: Fields): ReportedRecipient => {
  const action = word(first(fields, "action"))
  const original = addressesOf(first(fields, "original-recipient"))
  const final = addressesOf(first(fields, "final-recipient"))
  // The name of a local account is no other address.
  const whole = final.filter((address) => address.includes("@"))
  return {
    action: action === "failed" || action === "delivered" ? action : "other",
    status: /^[245]\.\d{1,3}\.\d{1,3}(?!\d)/.exec(first(fields, "status"))?.[0],
    diagnostic: first(fields, "diagnostic-code"),
    addresses: [...original, ...final],
    finalAddresses: whole.length > 0 ? whole : original
  }
}

/** Reads a part message/delivery-status. Each group that names an action is a recipient's, in whatever order they come. */
export const readDeliveryStatus = (text: string): Report => ({
  _tag: "Delivery",
  recipients: parseFields(text.slice(0, longestReport)).filter((fields) => fields.has("action"))
    .slice(0, mostRecipients).map(recipientOf)
})

/** Fields of a message that mail of ours carries a token in. */
const tellingFields = ["return-path", "x-recipient-token", "message-id", "list-unsubscribe"]

/** Reads a part message/feedback-report, with the message or the header section that it is about. */
export const readFeedback = (report: string, original: string): Report => {
  const [fields] = parseFields(report.slice(0, longestReport))
  const [headers] = parseFields(original.slice(0, longestReport))
  return {
    _tag: "Feedback",
    type: word(fields === undefined ? "" : first(fields, "feedback-type")),
    hints: [
      ...(fields?.get("original-mail-from") ?? []),
      ...tellingFields.flatMap((name) => headers?.get(name) ?? [])
    ].slice(0, 20)
  }
}

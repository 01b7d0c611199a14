import { readParts } from "./readParts.ts"
import { readDeliveryStatus, readFeedback, type Report } from "./Report.ts"

const none: Report = { _tag: "None" }

const statusType = /^message\/(?:global-)?delivery-status$/
const feedbackType = /^message\/feedback-report$/
const originalType = /^(?:message\/(?:rfc822|global)(?:-headers)?|text\/rfc822-headers)$/

/**
 * Reads a mail as a delivery report or a complaint. Total: whatever is neither, or cannot be read, is no report. An
 * automatic answer may quote anything; only what calls itself a report is one (RFC 6522), and of a returned message
 * nothing counts as a report of its own.
 */
export const parseReport = (raw: Uint8Array): Report => {
  const { parts, type } = readParts(raw)
  if (type !== "multipart/report") return none
  const textOf = (wanted: RegExp) => parts.find((part) => wanted.test(part.type))?.text
  const status = textOf(statusType)
  if (status !== undefined) return readDeliveryStatus(status)
  const feedback = textOf(feedbackType)
  return feedback === undefined ? none : readFeedback(feedback, textOf(originalType) ?? "")
}

/** What a status of submit_sm_resp means for the part. */
export type SubmitVerdict = "accepted" | "throttled" | "unbound" | "later" | "refused"

/** Too many at once: ESME_RTHROTTLED, ESME_RMSGQFUL. */
const throttled = new Set([0x58, 0x14])

/** The carrier does not know this bind any more: ESME_RINVBNDSTS, ESME_RBINDFAIL. */
const unbound = new Set([0x04, 0x0d])

/** Its own trouble: ESME_RSYSERR, ESME_RX_T_APPN, ESME_RDELIVERYFAILURE as some use it for a moment. */
const later = new Set([0x08, 0x64])

/** Judges a command_status (5.1.3). What is not known to pass is a refusal: to repeat it would cost and change nothing. */
export const verdictOf = (status: number): SubmitVerdict => {
  if (status === 0) return "accepted"
  if (throttled.has(status)) return "throttled"
  if (unbound.has(status)) return "unbound"
  return later.has(status) ? "later" : "refused"
}

/** `smpp_0x0000000b`: the status as the error code of a message. */
export const statusCode = (status: number): string => `smpp_0x${status.toString(16).padStart(8, "0")}`

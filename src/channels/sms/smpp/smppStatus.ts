/** The meaning of a submit_sm_resp status for the part. */
export type SubmitVerdict = "accepted" | "throttled" | "unbound" | "deferred" | "refused"

/** The carrier throttles: ESME_RTHROTTLED, ESME_RMSGQFUL. */
const throttled = new Set([0x58, 0x14])

/** The carrier no longer knows this bind: ESME_RINVBNDSTS, ESME_RBINDFAIL. */
const unbound = new Set([0x04, 0x0d])

/** Temporary faults of the carrier: ESME_RSYSERR, ESME_RX_T_APPN. */
const deferred = new Set([0x08, 0x64])

/** Classifies a command_status (5.1.3). An unknown status is a refusal: a retry would cost and change nothing. */
export const verdictOf = (status: number): SubmitVerdict => {
  if (status === 0) return "accepted"
  if (throttled.has(status)) return "throttled"
  if (unbound.has(status)) return "unbound"
  return deferred.has(status) ? "deferred" : "refused"
}

/** The status as the error code of a message: `smpp_0x0000000b`. */
export const statusCode = (status: number): string => `smpp_0x${status.toString(16).padStart(8, "0")}`

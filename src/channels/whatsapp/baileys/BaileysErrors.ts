import type { CloseCause } from "../model/SessionState.ts"

/** Codes by which the phone or the server says that these credentials are worth nothing. */
const loggedOut = new Set([401, 403, 411, 419])

/** The library's error at the end of a connection. */
export interface Disconnect extends Error {
  readonly output?: { readonly statusCode?: number }
}

/** Whether it is an HTTP status of whatever stands before the server. */
const isBefore = (error: Disconnect | undefined) => error?.message.startsWith("WebSocket Error") === true

/** What an end of a connection means. What stands before the server says nothing of the session. */
export const causeOf = (error: Disconnect | undefined): CloseCause => {
  const code = error?.output?.statusCode
  if (code === undefined || isBefore(error)) return "lost"
  if (code === 515) return "restart"
  if (code === 440) return "replaced"
  if (loggedOut.has(code)) return "logged_out"
  return code === 408 && error?.message.startsWith("QR refs") ? "codes_used_up" : "lost"
}

const outdated = "WhatsApp refuses this version of WhatsApp Web; WHATSAPP_VERSION sets another"

/** For the log. */
export const detailOf = (error: Disconnect | undefined) => {
  const code = error?.output?.statusCode ?? "closed"
  const isRefused = code === 405 && !isBefore(error)
  return `${code}: ${isRefused ? outdated : error?.message ?? ""}`
}

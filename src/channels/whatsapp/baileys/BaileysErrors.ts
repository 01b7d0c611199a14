import { Effect } from "effect"
import type { CloseCause } from "../model/SessionState.ts"
import { SocketFailed } from "../socket/SocketErrors.ts"

/** Status codes by which the phone or the server revokes these credentials. */
const loggedOut = new Set([401, 403, 411, 419])

/** The library's error at the end of a connection. */
export interface Disconnect extends Error {
  readonly output?: { readonly statusCode?: number }
}

/** Whether the error is an HTTP status, which a proxy may have sent. */
const isFromProxy = (error: Disconnect | undefined) => error?.message.startsWith("WebSocket Error") === true

/** Why a connection ended. An answer of a proxy reveals nothing about the session. */
export const causeOf = (error: Disconnect | undefined): CloseCause => {
  const code = error?.output?.statusCode
  if (code === undefined || isFromProxy(error)) return "lost"
  if (code === 515) return "restart"
  if (code === 440) return "replaced"
  if (loggedOut.has(code)) return "logged_out"
  return code === 408 && error?.message.startsWith("QR refs") ? "codes_expired" : "lost"
}

const outdated = "WhatsApp rejects this version of WhatsApp Web; set a newer one in WHATSAPP_VERSION"

/** The end of a connection, for the log. */
export const detailOf = (error: Disconnect | undefined) => {
  const code = error?.output?.statusCode ?? "closed"
  const isRefused = code === 405 && !isFromProxy(error)
  return `${code}: ${isRefused ? outdated : error?.message ?? ""}`
}

/** The library's error text. It contains no message content and no key. */
export const reasonOf = (error: unknown) => error instanceof Error ? error.message : "the library gave no reason"

/** The status by which WhatsApp answered a request. The library puts it into one of two places. */
export const statusOf = (error: unknown): unknown => {
  if (typeof error !== "object" || error === null) return undefined
  const data = "data" in error ? error.data : undefined
  const output = "output" in error ? error.output : undefined
  return typeof data === "number"
    ? data
    : typeof output === "object" && output !== null && "statusCode" in output
    ? output.statusCode
    : undefined
}

/** A request of the library as an effect. */
export const request = <A>(ask: () => Promise<A>) =>
  Effect.tryPromise({ try: ask, catch: (error) => new SocketFailed({ reason: reasonOf(error) }) })

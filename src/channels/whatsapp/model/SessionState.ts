import { Schema } from "effect"

/** Spec 3.1. */
export const SessionStatus = Schema.Literals(["pending", "connected", "disconnected", "failed"])
export type SessionStatus = typeof SessionStatus.Type

/** Why a session is not connected: `reason` of `session.disconnected` and of the session. */
export const SessionReason = Schema.Literals([
  "connection_lost",
  "logged_out",
  "replaced",
  "retries_exhausted",
  "qr_expired"
])
export type SessionReason = typeof SessionReason.Type

/** The columns of a session's row that decide its next step. */
export interface SessionState {
  readonly status: SessionStatus
  /** A phone has signed the stored credentials. */
  readonly is_paired: boolean
  /** Another client has logged in with the same credentials since the last stable connection. */
  readonly is_replaced: boolean
  /** Consecutive failed connections. */
  readonly failures: number
  readonly reason: SessionReason | null
}

/**
 * Why a connection ended. `restart`: the server wants a new one (515). `logged_out`: the phone has removed the device
 * (401, 403, 419, 411). `replaced`: another client has the same credentials (440). `codes_expired`: no phone scanned.
 */
export type CloseCause = "restart" | "logged_out" | "replaced" | "codes_expired" | "lost"

/** Inputs of a session. `CodeRequested`: a person wants a code. `RetryDue`: it is time to retry old credentials. */
export type SessionInput =
  | { readonly _tag: "Paired" }
  | { readonly _tag: "Opened" }
  | { readonly _tag: "Stable" }
  | { readonly _tag: "Closed"; readonly cause: CloseCause }
  | { readonly _tag: "CodeRequested" }
  | { readonly _tag: "RetryDue" }

/** The actor's next action: keep its connection, connect after a delay, or stay idle until it gets a request. */
export type NextAction =
  | { readonly _tag: "Stay" }
  | { readonly _tag: "Connect"; readonly delay: "none" | "back_off" | "replaced" }
  | { readonly _tag: "Idle"; readonly retryLater: boolean }

/** The event to publish. */
export type SessionEvent =
  | { readonly _tag: "Connected" }
  | { readonly _tag: "Disconnected"; readonly reason: SessionReason; readonly reconnecting: boolean }

/** The outcome of an input. */
export interface SessionStep {
  readonly state: SessionState
  readonly next: NextAction
  readonly event?: SessionEvent
  /** The keys and credentials are useless now. */
  readonly erase?: true
}

const stay: NextAction = { _tag: "Stay" }
const connect = (delay: "none" | "back_off" | "replaced"): NextAction => ({ _tag: "Connect", delay })
const idle = (retryLater: boolean): NextAction => ({ _tag: "Idle", retryLater })

const wasUp = ({ status }: SessionState) => status === "connected" || status === "disconnected"

/** Stops reconnecting. Only a session that was connected before publishes an event. */
const fail = (state: SessionState, reason: SessionReason, change: Partial<SessionState> = {}): SessionStep => ({
  state: { ...state, ...change, status: "failed", reason },
  next: idle(reason === "retries_exhausted" && state.is_paired),
  ...(wasUp(state) && { event: { _tag: "Disconnected", reason, reconnecting: false } })
})

/** A connected session becomes disconnected. Any other status stays. */
const down = (state: SessionState, reason: SessionReason, delay: "none" | "back_off" | "replaced"): SessionStep =>
  state.status === "connected"
    ? {
      state: { ...state, status: "disconnected", reason },
      next: connect(delay),
      event: { _tag: "Disconnected", reason, reconnecting: true }
    }
    : { state: state.status === "disconnected" ? { ...state, reason } : state, next: connect(delay) }

const lost = (state: SessionState, retries: number, immediate: boolean): SessionStep => {
  // A failed session has made its one retry and stays as it is.
  if (state.status === "failed") return { state, next: idle(state.reason === "retries_exhausted") }
  const counted = { ...state, failures: state.failures + 1 }
  return counted.failures > retries
    ? fail(counted, "retries_exhausted")
    : down(counted, "connection_lost", immediate ? "none" : "back_off")
}

const closed = (state: SessionState, cause: CloseCause, retries: number): SessionStep => {
  switch (cause) {
    case "logged_out":
      return { ...fail(state, "logged_out", { is_paired: false, is_replaced: false, failures: 0 }), erase: true }
    case "replaced":
      return state.is_replaced || !wasUp(state)
        ? fail(state, "replaced", { is_replaced: true })
        : down({ ...state, is_replaced: true }, "replaced", "replaced")
    case "codes_expired":
      return state.is_paired ? lost(state, retries, false) : fail(state, "qr_expired", { failures: 0 })
    case "restart":
      // One restart is part of the protocol. Repeated restarts back off like lost connections.
      return lost(state, retries, state.failures === 0)
    case "lost":
      return lost(state, retries, false)
  }
}

const codeRequested = (state: SessionState): SessionStep => {
  if (state.status === "connected") return { state, next: stay }
  return state.status === "failed" && !state.is_paired
    ? { state: { ...state, status: "pending", failures: 0, reason: null }, next: connect("none") }
    : { state, next: connect("none") }
}

/**
 * The lifecycle of a session (spec 3.1 and its gaps). Total. `retries` is how many consecutive failed connections lead
 * to another one. A failed session keeps its credentials unless the phone has logged it out.
 */
export const transition = (state: SessionState, input: SessionInput, retries: number): SessionStep => {
  switch (input._tag) {
    case "Paired":
      return { state: { ...state, is_paired: true, failures: 0 }, next: stay }
    case "Opened":
      return {
        state: {
          ...state,
          status: "connected",
          is_paired: true,
          reason: null,
          // Failures before the first login, such as the restart after the scan, do not count against later connections.
          failures: wasUp(state) ? state.failures : 0
        },
        next: stay,
        ...(state.status !== "connected" && { event: { _tag: "Connected" } })
      }
    case "Stable":
      return { state: { ...state, failures: 0, is_replaced: false }, next: stay }
    case "Closed":
      return closed(state, input.cause, retries)
    case "CodeRequested":
      return codeRequested(state)
    case "RetryDue":
      return state.status === "failed" && state.reason !== "retries_exhausted"
        ? { state, next: idle(false) }
        : { state, next: state.status === "connected" ? stay : connect("none") }
  }
}

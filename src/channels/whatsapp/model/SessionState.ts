import { Schema } from "effect"

/** Spec 3.1. */
export const SessionStatus = Schema.Literals(["pending", "connected", "disconnected", "failed"])
export type SessionStatus = typeof SessionStatus.Type

/** Why a session is not connected: `reason` of `session.disconnected` and of the session itself. */
export const SessionReason = Schema.Literals([
  "connection_lost",
  "logged_out",
  "replaced",
  "retries_exhausted",
  "qr_expired"
])
export type SessionReason = typeof SessionReason.Type

/** What a session's fate is decided from: columns of its row. */
export interface SessionState {
  readonly status: SessionStatus
  /** There are credentials that a phone has signed. */
  readonly is_paired: boolean
  /** Somebody else has logged in with the same credentials since the last stable connection. */
  readonly is_replaced: boolean
  /** Connections in a row that came to nothing. */
  readonly failures: number
  readonly reason: SessionReason | null
}

/**
 * Why a connection ended. `restart`: the server wants a new one (515). `logged_out`: the phone has removed the device
 * (401, 403, 419, 411). `replaced`: another client has the same credentials (440). `codes_used_up`: nobody scanned.
 */
export type CloseCause = "restart" | "logged_out" | "replaced" | "codes_used_up" | "lost"

/** What happens to a session. `Asked`: a person wants a code; `TryDue`: it is time to try old credentials. */
export type SessionInput =
  | { readonly _tag: "Paired" }
  | { readonly _tag: "Opened" }
  | { readonly _tag: "Stable" }
  | { readonly _tag: "Closed"; readonly cause: CloseCause }
  | { readonly _tag: "Asked" }
  | { readonly _tag: "TryDue" }

/** What its actor does next: keep what it has, connect (after which pause), or rest until it is asked. */
export type SessionNext =
  | { readonly _tag: "Stay" }
  | { readonly _tag: "Connect"; readonly pause: "none" | "retry" | "replaced" }
  | { readonly _tag: "Rest"; readonly tryAgain: boolean }

/** What webhooks are told. */
export type SessionNews =
  | { readonly _tag: "Connected" }
  | { readonly _tag: "Disconnected"; readonly reason: SessionReason; readonly reconnecting: boolean }

export interface SessionStep {
  readonly state: SessionState
  readonly next: SessionNext
  readonly news?: SessionNews
  /** Keys and credentials are worth nothing any more. */
  readonly erase?: true
}

const stay: SessionNext = { _tag: "Stay" }
const connect = (pause: "none" | "retry" | "replaced"): SessionNext => ({ _tag: "Connect", pause })
const rest = (tryAgain: boolean): SessionNext => ({ _tag: "Rest", tryAgain })

const wasUp = ({ status }: SessionState) => status === "connected" || status === "disconnected"

/** The end of a session's reconnecting; webhooks were told of it only if it was ever connected. */
const fail = (state: SessionState, reason: SessionReason, change: Partial<SessionState> = {}): SessionStep => ({
  state: { ...state, ...change, status: "failed", reason },
  next: rest(reason === "retries_exhausted" && state.is_paired),
  ...(wasUp(state) && { news: { _tag: "Disconnected", reason, reconnecting: false } })
})

/** A connection less: a paired session that was up is down, others stay what they are. */
const down = (state: SessionState, reason: SessionReason, pause: "none" | "retry" | "replaced"): SessionStep =>
  state.status === "connected"
    ? {
      state: { ...state, status: "disconnected", reason },
      next: connect(pause),
      news: { _tag: "Disconnected", reason, reconnecting: true }
    }
    : { state: state.status === "disconnected" ? { ...state, reason } : state, next: connect(pause) }

const lost = (state: SessionState, retries: number, immediate: boolean): SessionStep => {
  // One try of a session that has given up: nothing is worse than before.
  if (state.status === "failed") return { state, next: rest(state.reason === "retries_exhausted") }
  const counted = { ...state, failures: state.failures + 1 }
  return counted.failures > retries
    ? fail(counted, "retries_exhausted")
    : down(counted, "connection_lost", immediate ? "none" : "retry")
}

const closed = (state: SessionState, cause: CloseCause, retries: number): SessionStep => {
  switch (cause) {
    case "logged_out":
      return { ...fail(state, "logged_out", { is_paired: false, is_replaced: false, failures: 0 }), erase: true }
    case "replaced":
      return state.is_replaced || !wasUp(state)
        ? fail(state, "replaced", { is_replaced: true })
        : down({ ...state, is_replaced: true }, "replaced", "replaced")
    case "codes_used_up":
      return state.is_paired ? lost(state, retries, false) : fail(state, "qr_expired", { failures: 0 })
    case "restart":
      // Asked for once, it is the way of the protocol; a server that asks again and again waits like one that is lost.
      return lost(state, retries, state.failures === 0)
    case "lost":
      return lost(state, retries, false)
  }
}

const asked = (state: SessionState): SessionStep => {
  if (state.status === "connected") return { state, next: stay }
  return state.status === "failed" && !state.is_paired
    ? { state: { ...state, status: "pending", failures: 0, reason: null }, next: connect("none") }
    : { state, next: connect("none") }
}

/**
 * What becomes of a session (spec 3.1 and its gaps). Total. `retries` is how many failed connections in a row are
 * answered by another one. A session that has failed keeps its credentials unless the phone has logged it out.
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
          // A beginning: what it took to get there, the restart after the scan among it, says nothing of what follows.
          failures: wasUp(state) ? state.failures : 0
        },
        next: stay,
        ...(state.status !== "connected" && { news: { _tag: "Connected" } })
      }
    case "Stable":
      return { state: { ...state, failures: 0, is_replaced: false }, next: stay }
    case "Closed":
      return closed(state, input.cause, retries)
    case "Asked":
      return asked(state)
    case "TryDue":
      return state.status === "failed" && state.reason !== "retries_exhausted"
        ? { state, next: rest(false) }
        : { state, next: state.status === "connected" ? stay : connect("none") }
  }
}

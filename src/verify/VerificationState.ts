import type { VerificationStatus } from "./Verification.ts"

/** The state of a verification. */
export interface VerificationState {
  readonly status: VerificationStatus
  /** Wrong codes so far. */
  readonly attempts: number
  /** Whether it has expired. */
  readonly isOver: boolean
}

/** The effect of a guess. Without `next`, the guess was not compared and the verification does not change. */
export type Guessed =
  | { readonly _tag: "Approved" | "Wrong"; readonly next: VerificationState }
  /** The code was entered before. */
  | { readonly _tag: "Used" }
  | { readonly _tag: "Expired" }
  | { readonly _tag: "Exhausted" }

/**
 * The effect of a guess. The last allowed wrong guess ends the verification: afterwards even the correct code is
 * refused, as it is after expiry and after success. Final states do not change.
 */
export const guess = (state: VerificationState, isRight: boolean, maxAttempts: number): Guessed => {
  if (state.status === "approved") return { _tag: "Used" }
  if (state.status === "max_attempts") return { _tag: "Exhausted" }
  if (state.status === "expired" || state.isOver) return { _tag: "Expired" }
  if (isRight) return { _tag: "Approved", next: { ...state, status: "approved" } }
  const attempts = state.attempts + 1
  const status = attempts >= maxAttempts ? "max_attempts" : "pending"
  return { _tag: "Wrong", next: { ...state, attempts, status } }
}

/** The final state of an unconfirmed verification that has expired; undefined if there is nothing to publish. */
export const end = ({ isOver, status }: VerificationState): "expired" | "max_attempts" | undefined => {
  if (!isOver || status === "approved") return undefined
  return status === "pending" ? "expired" : status
}

/** The status that the API shows. An expired verification is not pending, even before a node has recorded its end. */
export const shownStatus = (state: VerificationState): VerificationStatus => end(state) ?? state.status

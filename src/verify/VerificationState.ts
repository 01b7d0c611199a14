import type { VerificationStatus } from "./Verification.ts"

/** Where a verification is. */
export interface Standing {
  readonly status: VerificationStatus
  /** Wrong codes so far. */
  readonly attempts: number
  /** Whether its time is over. */
  readonly isOver: boolean
}

/** What a guess makes of a verification; where there is no `next` it stays what it was, and the guess was not looked at. */
export type Guessed =
  | { readonly _tag: "Approved" | "Wrong"; readonly next: Standing }
  /** Its code was entered before. */
  | { readonly _tag: "Used" }
  | { readonly _tag: "Expired" }
  | { readonly _tag: "Exhausted" }

/**
 * A guess. The last wrong one that is allowed ends the verification, and from then on the right code is refused as any
 * other is, and so is every code after the time and after the right one. Total; ends are final.
 */
export const guess = (standing: Standing, isRight: boolean, mostAttempts: number): Guessed => {
  if (standing.status === "approved") return { _tag: "Used" }
  if (standing.status === "max_attempts") return { _tag: "Exhausted" }
  if (standing.status === "expired" || standing.isOver) return { _tag: "Expired" }
  if (isRight) return { _tag: "Approved", next: { ...standing, status: "approved" } }
  const attempts = standing.attempts + 1
  const status = attempts >= mostAttempts ? "max_attempts" : "pending"
  return { _tag: "Wrong", next: { ...standing, attempts, status } }
}

/**
 * What becomes of an unconfirmed verification when its time is over, which is then told; undefined when there is
 * nothing to tell.
 */
export const end = ({ isOver, status }: Standing): "expired" | "max_attempts" | undefined => {
  if (!isOver || status === "approved") return undefined
  return status === "pending" ? "expired" : status
}

/** What is told of a verification: one whose time is over is no longer pending, also before somebody has noted it. */
export const shownStatus = (standing: Standing): VerificationStatus => end(standing) ?? standing.status

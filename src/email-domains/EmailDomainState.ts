import { Duration } from "effect"
import type { DomainCheck, DomainStatus, Purpose } from "./EmailDomain.ts"
import { nextPendingCheck } from "./PendingCheckSchedule.ts"

/** The state of a domain before a check. */
export interface DomainState {
  readonly status: DomainStatus
  /** Consecutive definite failures of a verified domain. */
  readonly failures: number
  /** Time since the first of these failures; zero without one. */
  readonly failingFor: Duration.Duration
  /** Time since the domain was added or lost its verification. */
  readonly pendingFor: Duration.Duration
}

/** `failed` is definite. `unknown` means that name servers did not answer. */
export type Verdict = "passed" | "failed" | "unknown"

/** The effect of a check on a domain. */
export interface Transition {
  readonly status: DomainStatus
  readonly failures: number
  /** The pause before the next check; undefined if only the owner can start one. */
  readonly pause: Duration.Duration | undefined
  readonly change: "verified" | "unverified" | undefined
}

/** DKIM proves control of the domain, and large receivers require both. DMARC and MX are recommendations. */
const required: ReadonlyArray<Purpose> = ["DKIM", "SPF"]

/** The verdict on the required records. A definite failure outweighs an unknown one. */
export const verdictOf = (check: DomainCheck): Verdict => {
  const statuses = required.map((purpose) => check.find((record) => record.purpose === purpose)?.status)
  if (statuses.every((status) => status === "verified")) return "passed"
  const isKnown = (status: string | undefined) => status !== "verified" && status !== "temporary_error"
  return statuses.some(isKnown) ? "failed" : "unknown"
}

const maxFailures = 3
const minFailingFor = Duration.hours(48)

/** Daily, plus or minus two hours, so that domains verified together are not checked together. */
const daily = (jitter: number) => Duration.times(Duration.hours(1), 22 + 4 * jitter)

/** The pause after name servers did not answer. */
const soon = Duration.hours(1)

const whilePending = (state: DomainState): Transition => ({
  status: "pending",
  failures: 0,
  pause: nextPendingCheck(state.pendingFor),
  change: undefined
})

/**
 * The effect of a check on a domain (spec 3.2). A verified domain becomes pending only after three consecutive definite
 * failures over 48 hours, so a DNS mistake that is repaired in time stops no mail. `jitter` is between 0 and 1.
 */
export const transition = (state: DomainState, verdict: Verdict, jitter: number): Transition => {
  if (verdict === "passed") {
    const change = state.status === "pending" ? "verified" : undefined
    return { status: "verified", failures: 0, pause: daily(jitter), change }
  }
  if (state.status === "pending") return whilePending(state)
  if (verdict === "unknown") {
    return { status: "verified", failures: state.failures, pause: soon, change: undefined }
  }
  const failures = state.failures + 1
  if (failures < maxFailures || Duration.isLessThan(state.failingFor, minFailingFor)) {
    return { status: "verified", failures, pause: daily(jitter), change: undefined }
  }
  return { ...whilePending({ ...state, pendingFor: Duration.zero }), change: "unverified" }
}

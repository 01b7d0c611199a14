import { Duration } from "effect"
import type { DomainCheck, DomainStatus, Purpose } from "./EmailDomain.ts"

/** Where a domain stands when a check begins. */
export interface Standing {
  readonly status: DomainStatus
  /** Definitive failures of a verified domain, in a row. */
  readonly failures: number
  /** Since the first of them; zero when there is none. */
  readonly failingFor: Duration.Duration
  /** Since it was added, or since it lost its verification. */
  readonly pendingFor: Duration.Duration
}

/** `failed` is known for sure; `unknown` means that name servers did not answer, which is nobody's fault here. */
export type Verdict = "passed" | "failed" | "unknown"

/** What a check makes of a domain. */
export interface Transition {
  readonly status: DomainStatus
  readonly failures: number
  /** Until the next check; undefined when there is none but on demand. */
  readonly pause: Duration.Duration | undefined
  readonly change: "verified" | "unverified" | undefined
}

/** DKIM proves whose domain it is; both are what large receivers ask of everybody. DMARC and MX are advice. */
const required: ReadonlyArray<Purpose> = ["DKIM", "SPF"]

/** What a check says of the required records: one that is surely wrong outweighs one that nobody knows of. */
export const verdictOf = (check: DomainCheck): Verdict => {
  const statuses = required.map((purpose) => check.find((record) => record.purpose === purpose)?.status)
  if (statuses.every((status) => status === "verified")) return "passed"
  const isKnown = (status: string | undefined) => status !== "verified" && status !== "temporary_error"
  return statuses.some(isKnown) ? "failed" : "unknown"
}

const mostFailures = 3
const leastFailingFor = Duration.hours(48)

/** Growing pauses while a domain is pending: how long it has been so, and the pause. After the last nobody looks. */
const pendingPauses: ReadonlyArray<readonly [until: Duration.Duration, pause: Duration.Duration]> = [
  [Duration.minutes(5), Duration.minutes(1)],
  [Duration.hours(1), Duration.minutes(10)],
  [Duration.hours(72), Duration.hours(1)]
]

const pendingPause = (pendingFor: Duration.Duration) =>
  pendingPauses.find(([until]) => Duration.isLessThan(pendingFor, until))?.[1]

/** Once a day, give or take two hours, so that domains which were verified together are not checked together. */
const daily = (jitter: number) => Duration.times(Duration.hours(1), 22 + 4 * jitter)

/** Name servers that did not answer are asked again within the day. */
const soon = Duration.hours(1)

const whilePending = (standing: Standing): Transition => ({
  status: "pending",
  failures: 0,
  pause: pendingPause(standing.pendingFor),
  change: undefined
})

/**
 * What a check makes of a domain (spec 3.2). A verified one is pending again only after three definitive failures in a
 * row over 48 hours, so a mistake in DNS that is repaired in time stops nobody's mail. `jitter` is from 0 to 1.
 */
export const transition = (standing: Standing, verdict: Verdict, jitter: number): Transition => {
  if (verdict === "passed") {
    const change = standing.status === "pending" ? "verified" : undefined
    return { status: "verified", failures: 0, pause: daily(jitter), change }
  }
  if (standing.status === "pending") return whilePending(standing)
  if (verdict === "unknown") {
    return { status: "verified", failures: standing.failures, pause: soon, change: undefined }
  }
  const failures = standing.failures + 1
  if (failures < mostFailures || Duration.isLessThan(standing.failingFor, leastFailingFor)) {
    return { status: "verified", failures, pause: daily(jitter), change: undefined }
  }
  return { ...whilePending({ ...standing, pendingFor: Duration.zero }), change: "unverified" }
}

import { Duration, Effect, Schedule } from "effect"
import { delaysOf } from "../../../platform/schedule/delaysOf.ts"

/**
 * The circuit breaker of one relay. `until` is in milliseconds of the caller's clock, `failures` counts the failures in a
 * row, and `probing` is true while the one send that tests an open circuit is in flight.
 */
export type RelayCircuit = { readonly _tag: "Closed" } | OpenCircuit

/** A circuit that admits one probe after each back-off. */
export interface OpenCircuit {
  readonly _tag: "Open"
  readonly until: number
  readonly failures: number
  readonly reason: string
  readonly probing: boolean
}

/** Whether a send may start: yes, only as the probe, or not before a later time. */
export type Admission =
  | { readonly _tag: "Pass" }
  | { readonly _tag: "Probe" }
  | { readonly _tag: "Refused"; readonly reason: string; readonly retryInMillis: number }

/** The back-off between probes: 1, 2, 4, 8, 16 and 30 seconds. The last one repeats until the relay recovers. */
const RelayRetryPolicy = Schedule.exponential("1 second").pipe(
  Schedule.modifyDelay(({ duration }) => Effect.succeed(Duration.min(duration, Duration.seconds(30)))),
  Schedule.upTo({ times: 6 })
)

const delays = delaysOf(RelayRetryPolicy).map(Duration.toMillis)

const backOffAfter = (failures: number): number => delays[Math.min(failures, delays.length) - 1] ?? 0

/** How long a refused send waits while a probe is in flight, in milliseconds; the probe's end cannot be predicted. */
const whileProbing = 1_000

const closed: RelayCircuit = { _tag: "Closed" }

/** Decides about one send. A probe is recorded in the next state and must end with trip, close or abandon. */
const admit = (circuit: RelayCircuit, now: number): { readonly next: RelayCircuit; readonly admission: Admission } => {
  if (circuit._tag === "Closed") return { next: circuit, admission: { _tag: "Pass" } }
  if (!circuit.probing && now >= circuit.until) {
    return { next: { ...circuit, probing: true }, admission: { _tag: "Probe" } }
  }
  const retryInMillis = Math.max(circuit.until - now, circuit.probing ? whileProbing : 1)
  return { next: circuit, admission: { _tag: "Refused", reason: circuit.reason, retryInMillis } }
}

/**
 * Opens the circuit after a failure. Sends that were in flight when it opened fail together, so only the probe's failure
 * lengthens the back-off.
 */
const trip = (circuit: RelayCircuit, failure: { readonly now: number; readonly reason: string }): OpenCircuit => {
  if (circuit._tag === "Open" && !circuit.probing) return circuit
  const failures = circuit._tag === "Closed" ? 1 : circuit.failures + 1
  return {
    _tag: "Open",
    until: failure.now + backOffAfter(failures),
    failures,
    reason: failure.reason,
    probing: false
  }
}

/** The probe was interrupted: the next send may probe at once. */
const abandon = (circuit: RelayCircuit): RelayCircuit =>
  circuit._tag === "Open" ? { ...circuit, probing: false } : circuit

/** The pure circuit breaker: one failure opens it, one success closes it. */
export const RelayCircuit = { closed, admit, trip, abandon }

/**
 * Whether the relay is worth asking. `until` is in milliseconds of the caller's clock; `probing` is true while the one
 * send that may test an open circuit is under way.
 */
export type RelayCircuit = { readonly _tag: "Closed" } | OpenCircuit

/** A circuit that lets one probe pass per pause. */
export interface OpenCircuit {
  readonly _tag: "Open"
  readonly until: number
  readonly pause: number
  readonly reason: string
  readonly probing: boolean
}

/** Bounds of the pause in milliseconds: it starts at `first` and doubles up to `longest`. */
export interface CircuitPauses {
  readonly first: number
  readonly longest: number
}

/** The answer to a send that asks to pass: go, go as the only probe, or fail now and ask again later. */
export type Admission =
  | { readonly _tag: "Pass" }
  | { readonly _tag: "Probe" }
  | { readonly _tag: "Refused"; readonly reason: string; readonly retryInMillis: number }

/** Milliseconds after which to ask again while a probe is under way: nobody can know when it ends. */
const whileProbing = 1_000

const closed: RelayCircuit = { _tag: "Closed" }

/** Decides about one send; a probe is marked in the next state and must be settled by trip, heal or abandon. */
const admit = (circuit: RelayCircuit, now: number): { readonly next: RelayCircuit; readonly admission: Admission } => {
  if (circuit._tag === "Closed") return { next: circuit, admission: { _tag: "Pass" } }
  if (!circuit.probing && now >= circuit.until) {
    return { next: { ...circuit, probing: true }, admission: { _tag: "Probe" } }
  }
  const retryInMillis = Math.max(circuit.until - now, circuit.probing ? whileProbing : 1)
  return { next: circuit, admission: { _tag: "Refused", reason: circuit.reason, retryInMillis } }
}

/**
 * The relay failed. Sends that were already under way when the circuit opened fail together: they must not lengthen the
 * pause once each, so only the probe does.
 */
const trip = (
  circuit: RelayCircuit,
  failure: { readonly now: number; readonly reason: string; readonly pauses: CircuitPauses }
): OpenCircuit => {
  if (circuit._tag === "Open" && !circuit.probing) return circuit
  const pause = circuit._tag === "Closed"
    ? failure.pauses.first
    : Math.min(circuit.pause * 2, failure.pauses.longest)
  return { _tag: "Open", until: failure.now + pause, pause, reason: failure.reason, probing: false }
}

/** The probe was interrupted: the next send may probe at once. */
const abandon = (circuit: RelayCircuit): RelayCircuit =>
  circuit._tag === "Open" ? { ...circuit, probing: false } : circuit

/** The pure circuit towards the relay: one failure opens it, one success closes it. */
export const RelayCircuit = { closed, admit, trip, abandon }

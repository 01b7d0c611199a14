import { Effect } from "effect"
import { monotonicMillis } from "../../../platform/schedule/monotonic.ts"
import { type Admission, RelayCircuit } from "./RelayCircuit.ts"
import { RelayUnavailable } from "./SmtpErrors.ts"

/** A circuit breaker in use: that of the relay, or that of one account's mail. */
export class Breaker {
  #circuit: RelayCircuit = RelayCircuit.closed

  /** Whether a send may start; asking does not use up the probe. */
  admission(now: number): Admission {
    return RelayCircuit.admit(this.#circuit, now).admission
  }

  /** Runs a send unless the circuit is open. */
  guard<A, E, R>(now: number, send: Effect.Effect<A, E, R>): Effect.Effect<A, E | RelayUnavailable, R> {
    const { admission, next } = RelayCircuit.admit(this.#circuit, now)
    this.#circuit = next
    switch (admission._tag) {
      case "Pass":
        return send
      case "Probe":
        // The probe's result is recorded by now. If it was interrupted, the next send may probe.
        return Effect.ensuring(
          send,
          Effect.sync(() => {
            this.#circuit = RelayCircuit.abandon(this.#circuit)
          })
        )
      case "Refused": {
        const { reason, retryInMillis } = admission
        return Effect.fail(new RelayUnavailable({ fault: "paused", reason, retryInMillis }))
      }
    }
  }

  /** Opens the circuit, and logs `message` if this changes it. */
  trip({ fault, reason }: RelayUnavailable, message: string): Effect.Effect<never, RelayUnavailable> {
    return Effect.gen({ self: this }, function*() {
      const now = yield* monotonicMillis
      const before = this.#circuit
      const after = RelayCircuit.trip(before, { now, reason })
      this.#circuit = after
      if (after !== before) {
        yield* Effect.logWarning(message).pipe(Effect.annotateLogs({ fault, reason, pause_ms: after.until - now }))
      }
      return yield* new RelayUnavailable({ fault, reason, retryInMillis: Math.max(after.until - now, 0) })
    })
  }

  /** Returns whether the circuit was open. */
  close(): boolean {
    const wasOpen = this.#circuit._tag === "Open"
    this.#circuit = RelayCircuit.closed
    return wasOpen
  }
}

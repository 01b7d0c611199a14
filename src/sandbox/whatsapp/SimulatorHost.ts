import { Clock, Effect } from "effect"
import { Singleton } from "effect/cluster"
import { SandboxWhatsAppStore } from "./SandboxWhatsAppStore.ts"
import { WhatsAppSimulator } from "./WhatsAppSimulator.ts"

/** Numbers that end like this are never on the simulated WhatsApp; all others get a phone when somebody looks for them. */
const absentEnding = "0000"

/** A simulator on the store, stopped with the scope: what changed last is written then. */
export const startSimulator = Effect.gen(function*() {
  const store = yield* SandboxWhatsAppStore
  const clock = yield* Clock.Clock
  const runPromise = Effect.runPromiseWith(yield* Effect.context<never>())
  return yield* Effect.acquireRelease(
    Effect.promise(() =>
      WhatsAppSimulator.start({
        now: () => clock.currentTimeMillisUnsafe(),
        isThere: (number) => !number.endsWith(absentEnding),
        storage: { load: () => runPromise(store.load), save: (changes) => runPromise(store.save(changes)) }
      })
    ),
    (simulator) => Effect.promise(() => simulator.stop())
  )
})

/**
 * The simulated WhatsApp of a cluster: on one node at a time, on a free port of the loopback interface that the others
 * are told. When its node leaves, another one goes on with the same phones and sessions; clients connect anew.
 */
export const SandboxWhatsAppHost = Singleton.make(
  "SandboxWhatsAppHost",
  Effect.gen(function*() {
    const store = yield* SandboxWhatsAppStore
    const { port } = yield* startSimulator
    // Clients that look for it while no node has it wait, instead of finding a closed door.
    yield* Effect.acquireRelease(store.announce(port), () => Effect.ignoreCause(store.withdraw(port)))
    return yield* Effect.never
  }).pipe(Effect.scoped)
)

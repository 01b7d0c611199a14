/**
 * The singleton that runs the simulated WhatsApp on one node of the cluster.
 *
 * Callers: every node, by the announced port: sessions connect to it, pages control its phones.
 * State: in memory, and in `sandbox_whatsapp` with a delay of a tenth of a second.
 * On shard move: the next node loads the same phones and sessions; clients reconnect.
 * Idempotence: not needed, the simulator receives no repeated requests.
 * Sleep: never.
 */
import { Clock, Effect, Layer, Schedule } from "effect"
import { Singleton } from "effect/cluster"
import { TestWork } from "../../platform/work/TestWork.ts"
import { SandboxWhatsAppRepo } from "./SandboxWhatsAppRepo.ts"

/** Numbers with this ending are never on the simulated WhatsApp. All others get a phone when a client looks them up. */
const absentEnding = "0000"

/** A simulator with its state in the database. Closing the scope stops it and writes the last changes. */
export const startSimulator = Effect.gen(function*() {
  const repo = yield* SandboxWhatsAppRepo
  const clock = yield* Clock.Clock
  const runPromise = Effect.runPromiseWith(yield* Effect.context<never>())
  return yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const { WhatsAppSimulator } = await import("./WhatsAppSimulator.ts")
      return WhatsAppSimulator.start({
        now: () => clock.currentTimeMillisUnsafe(),
        createsPhone: (number) => !number.endsWith(absentEnding),
        storage: { load: () => runPromise(repo.load), save: (changes) => runPromise(repo.save(changes)) }
      })
    }),
    (simulator) => Effect.promise(() => simulator.stop())
  )
})

/**
 * Runs the simulator on one node at a time, on a free port of the loopback interface. It starts when a session or a page
 * first asks for it, because it takes 60 MB.
 */
const hosting = Effect.gen(function*() {
  const repo = yield* SandboxWhatsAppRepo
  yield* Effect.repeat(repo.isWanted, { until: (wanted) => wanted, schedule: Schedule.spaced("250 millis") })
  const { port } = yield* startSimulator
  // Without an announcement clients wait. With a stale one they would get refused connections.
  yield* Effect.acquireRelease(repo.announce(port), () => Effect.ignoreCause(repo.withdraw(port)))
  return yield* Effect.never
}).pipe(Effect.scoped)

const name = "SandboxWhatsAppHost"

export const SimulatorHost = Singleton.make(name, hosting).pipe(Layer.provide(SandboxWhatsAppRepo.layer))

/** The same where only test sessions use it: without test keys it asks for nothing. */
export const TestSimulatorHost = Singleton.make(
  name,
  Effect.flatMap(TestWork, ({ begins }) => Effect.andThen(begins, hosting))
).pipe(Layer.provide(SandboxWhatsAppRepo.layer))

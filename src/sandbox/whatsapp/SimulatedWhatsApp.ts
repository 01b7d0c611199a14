import { Context, Data, Effect, Layer, Option, Schedule } from "effect"
import { callControl } from "./control/ControlClient.ts"
import type { Controls } from "./control/Controls.ts"
import type { Verb } from "./control/ControlServer.ts"
import { SimulatorRefusal } from "./model/SimulatorState.ts"
import { SandboxWhatsAppRepo } from "./SandboxWhatsAppRepo.ts"

/** The phones refused a request. The page shows the reason. */
export class PhoneRefusal extends Data.TaggedError("PhoneRefusal")<{ readonly reason: string }> {}

/** The current address of the simulator, on this machine. */
export interface SimulatorAddress {
  readonly host: string
  readonly port: number
  /** For clients of the protocol. */
  readonly url: string
}

/** How often a node polls for the announcement while no node hosts the simulator. */
const pollSchedule = Schedule.spaced("200 millis")

const isNotListening = (error: unknown) => error instanceof Error && "code" in error && error.code === "ECONNREFUSED"

const refusalOf = (error: unknown) =>
  new PhoneRefusal({
    reason: error instanceof SimulatorRefusal
      ? error.message
      : "The simulator stopped before it answered. Check whether it did what you asked, then try again."
  })

/** The sandbox's simulated WhatsApp, on any node of the cluster. */
export class SimulatedWhatsApp extends Context.Service<SimulatedWhatsApp, {
  /** Starts the simulator if no node hosts it yet, and waits for it. It may move, so ask again for every connection. */
  readonly address: Effect.Effect<SimulatorAddress>
  /** Calls one verb of `Controls` with its parameters. Waits while the simulator moves. */
  readonly control: <V extends Verb>(
    verb: V,
    ...parameters: Parameters<Controls[V]>
  ) => Effect.Effect<Awaited<ReturnType<Controls[V]>>, PhoneRefusal>
}>()("messaging-service/sandbox/whatsapp/SimulatedWhatsApp") {
  static readonly layer = Layer.effect(
    SimulatedWhatsApp,
    Effect.gen(function*() {
      const repo = yield* SandboxWhatsAppRepo
      const announced = Effect.flatMap(
        repo.announced,
        Option.match({
          onNone: () => Effect.andThen(repo.want, Effect.fail("not hosted" as const)),
          onSome: Effect.succeed
        })
      )
      const address = Effect.map(
        Effect.orDie(Effect.retry(announced, pollSchedule)),
        (port): SimulatorAddress => ({ host: "127.0.0.1", port, url: `ws://127.0.0.1:${port}/ws/chat` })
      )
      return SimulatedWhatsApp.of({
        address,
        control: (verb, ...parameters) =>
          Effect.flatMap(address, ({ host, port }) =>
            Effect.tryPromise({
              try: () => callControl(`http://${host}:${port}`, verb, parameters),
              catch: (error) => isNotListening(error) ? "not listening" as const : refusalOf(error)
            })).pipe(
              // The hosting node is gone and did not receive the verb. The next node will announce itself.
              Effect.retry({ schedule: pollSchedule, while: (error) => error === "not listening" }),
              Effect.catchIf((error) => error === "not listening", Effect.die)
            )
      })
    })
  ).pipe(Layer.provide(SandboxWhatsAppRepo.layer))
}

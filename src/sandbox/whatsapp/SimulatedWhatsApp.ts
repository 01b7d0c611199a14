import { Context, Data, Effect, Layer, Option, Schedule } from "effect"
import { callControl } from "./control/ControlClient.ts"
import type { Controls } from "./control/Controls.ts"
import type { Verb } from "./control/ControlServer.ts"
import { SimulatorRefusal } from "./model/SimulatorRefusal.ts"
import { SandboxWhatsAppStore } from "./SandboxWhatsAppStore.ts"

/** What was asked of the phones cannot be done; the reason is for the person who asked. */
export class PhoneRefusal extends Data.TaggedError("PhoneRefusal")<{ readonly reason: string }> {}

/** Where the simulated WhatsApp listens at this moment, on this machine. */
export interface SimulatorAddress {
  readonly host: string
  readonly port: number
  /** Where clients connect. */
  readonly url: string
}

/** How often a node asks where the simulator is, while it moves. */
const patience = Schedule.spaced("200 millis")

const isNotListening = (error: unknown) => error instanceof Error && "code" in error && error.code === "ECONNREFUSED"

const reasonOf = (error: unknown) => ({
  reason: error instanceof SimulatorRefusal
    ? error.message
    : "The simulator went away before it answered; what it was asked may have been done"
})

/** The sandbox's simulated WhatsApp, wherever in the cluster it runs. */
export class SimulatedWhatsApp extends Context.Service<SimulatedWhatsApp, {
  /** Where it listens. Waits while nobody hosts it; ask again for every connection, since it may move. */
  readonly address: Effect.Effect<SimulatorAddress>
  /** One verb of `Controls`, with its parameters. A simulator that moves is waited for. */
  readonly control: <V extends Verb>(
    verb: V,
    ...parameters: Parameters<Controls[V]>
  ) => Effect.Effect<Awaited<ReturnType<Controls[V]>>, PhoneRefusal>
}>()("messaging-service/sandbox/whatsapp/SimulatedWhatsApp") {
  static readonly layer: Layer.Layer<SimulatedWhatsApp, never, SandboxWhatsAppStore> = Layer.effect(
    SimulatedWhatsApp,
    Effect.gen(function*() {
      const store = yield* SandboxWhatsAppStore
      const announced = Effect.flatMap(
        store.announced,
        Option.match({
          onNone: () => Effect.fail("not hosted" as const),
          onSome: Effect.succeed
        })
      )
      const address = Effect.map(
        Effect.orDie(Effect.retry(announced, patience)),
        (port): SimulatorAddress => ({ host: "127.0.0.1", port, url: `ws://127.0.0.1:${port}/ws/chat` })
      )
      return SimulatedWhatsApp.of({
        address,
        control: (verb, ...parameters) =>
          Effect.flatMap(address, ({ host, port }) =>
            Effect.tryPromise({
              try: () => callControl(`http://${host}:${port}`, verb, parameters),
              catch: (error) => isNotListening(error) ? "not listening" as const : new PhoneRefusal(reasonOf(error))
            })).pipe(
              // Its node is gone and has not been followed by another one yet: the verb was not heard.
              Effect.retry({ schedule: patience, while: (error) => error === "not listening" }),
              Effect.catchIf((error) => error === "not listening", Effect.die)
            )
      })
    })
  )
}

import { Context } from "effect"
import type { Effect, Option } from "effect"
import type { StateChanges } from "./model/SimulatorState.ts"

/** What the simulated WhatsApp remembers, and which node of the cluster hosts it. */
export class SandboxWhatsAppStore extends Context.Service<SandboxWhatsAppStore, {
  /** Everything, by name. */
  readonly load: Effect.Effect<ReadonlyMap<string, string>>
  /** Writes changes; when it succeeds, they are committed. */
  readonly save: (changes: StateChanges) => Effect.Effect<void>
  /** Tells the other nodes where the simulator listens. */
  readonly announce: (port: number) => Effect.Effect<void>
  /** Takes that back, unless another node has announced itself since. */
  readonly withdraw: (port: number) => Effect.Effect<void>
  /** The port that was announced last; none while nobody listens. */
  readonly announced: Effect.Effect<Option.Option<number>>
}>()("messaging-service/sandbox/whatsapp/SandboxWhatsAppStore") {}

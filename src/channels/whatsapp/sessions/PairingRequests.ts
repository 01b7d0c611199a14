import { Context, Effect, Layer, Option } from "effect"
import type { WhatsAppSessionId } from "../../../values/Ids.ts"
import type { PendingSession } from "../model/Session.ts"
import { SessionEntity } from "./SessionEntity.ts"
import { makeSessionsRepo } from "./SessionsRepo.ts"

/** How long somebody waits for the code of a session that has to begin anew. */
const patience = "20 seconds"

/**
 * The sessions of all accounts that wait for a phone, with what a phone needs to pair itself with them: for the sandbox,
 * whose phones have no camera. No endpoint of the API may show this.
 */
export class PairingRequests extends Context.Service<PairingRequests, {
  /** Newest first. */
  readonly list: Effect.Effect<ReadonlyArray<PendingSession>>
  /** What the session's code says at this moment; none when it shows none in time. */
  readonly code: (id: WhatsAppSessionId) => Effect.Effect<Option.Option<string>>
}>()("messaging-service/channels/whatsapp/sessions/PairingRequests") {
  static readonly layer = Layer.effect(
    PairingRequests,
    Effect.gen(function*() {
      const repo = yield* makeSessionsRepo
      const actor = yield* SessionEntity.client
      return PairingRequests.of({
        list: Effect.orDie(repo.pending()),
        code: Effect.fn("PairingRequests.code")(function*(id) {
          const pending = yield* Effect.orDie(repo.pending())
          // Asking wakes an actor: not for what is no session.
          if (!pending.some((session) => session.id === id)) return Option.none()
          const code = yield* Effect.timeoutOption(Effect.orDie(actor(String(id)).Qr()), patience)
          return Option.isSome(code) && code.value._tag === "Code" ? Option.some(code.value.text) : Option.none()
        })
      })
    })
  )
}

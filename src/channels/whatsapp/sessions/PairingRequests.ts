import { Context, Effect, Layer, Option } from "effect"
import type { WhatsAppSessionId } from "../../../values/Ids.ts"
import type { PendingSession } from "../model/Session.ts"
import { SessionEntity } from "./SessionEntity.ts"
import { SessionsRepo } from "./SessionsRepo.ts"

/** The longest wait for the code of a session that has to start over. */
const codeTimeout = "20 seconds"

/**
 * The sessions of all accounts that wait for a phone, with their codes: for the sandbox, whose phones have no camera. No
 * endpoint of the API may expose this.
 */
export class PairingRequests extends Context.Service<PairingRequests, {
  /** Newest first. */
  readonly list: Effect.Effect<ReadonlyArray<PendingSession>>
  /** The text of the session's current code. None if it shows no code in time. */
  readonly code: (id: WhatsAppSessionId) => Effect.Effect<Option.Option<string>>
}>()("messaging-service/channels/whatsapp/sessions/PairingRequests") {
  static readonly layer = Layer.effect(
    PairingRequests,
    Effect.gen(function*() {
      const repo = yield* SessionsRepo
      const actor = yield* SessionEntity.client
      return PairingRequests.of({
        list: repo.pending(),
        code: Effect.fn("PairingRequests.code")(function*(id) {
          const pending = yield* repo.pending()
          // A request would wake an actor, which must not happen for an id without a session.
          if (!pending.some((session) => session.id === id)) return Option.none()
          const code = yield* Effect.timeoutOption(Effect.orDie(actor(String(id)).Qr()), codeTimeout)
          return Option.isSome(code) && code.value._tag === "Code" ? Option.some(code.value.text) : Option.none()
        })
      })
    })
  ).pipe(Layer.provide(SessionsRepo.layer))
}

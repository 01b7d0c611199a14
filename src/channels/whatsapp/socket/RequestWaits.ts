import { Context, Duration, Effect, Layer, Option, Semaphore } from "effect"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { Database } from "../../../platform/database/Database.ts"
import { ServiceUnavailable } from "../../../platform/http/ApiErrors.ts"

/** The longest time that a request waits for WhatsApp. */
export const requestTimeout = Duration.seconds(20)

/** Time for the transaction's own work after the wait. */
const margin = Duration.seconds(5)

/** Limits how many requests of a node hold a database connection while they wait for WhatsApp. */
export class RequestWaits extends Context.Service<RequestWaits, {
  /**
   * Waits. A request with an `Idempotency-Key` waits inside its transaction: at most a quarter of the connections may be
   * held that way, and further requests fail.
   */
  readonly bounded: <A, E>(wait: Effect.Effect<A, E>) => Effect.Effect<A, E | ServiceUnavailable>
}>()("messaging-service/channels/whatsapp/socket/RequestWaits") {
  static readonly layer = Layer.effect(
    RequestWaits,
    Effect.gen(function*() {
      const { inTransaction, idleInTransaction } = yield* Database
      const { databaseConnections } = yield* AppConfig
      const permits = yield* Semaphore.make(Math.floor(databaseConnections / 4))

      return RequestWaits.of({
        bounded: Effect.fnUntraced(function*<A, E>(wait: Effect.Effect<A, E>) {
          if (!(yield* inTransaction)) return yield* wait
          const idle = idleInTransaction(wait, Duration.sum(requestTimeout, margin))
          const done = yield* permits.withPermitsIfAvailable(1)(idle)
          return Option.isSome(done) ? done.value : yield* new ServiceUnavailable()
        })
      })
    })
  )
}

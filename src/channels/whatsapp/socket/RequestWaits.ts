import { Context, Duration, Effect, Layer, Option, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { idleInTransaction, inTransaction } from "../../../platform/database/transaction.ts"
import { ServiceUnavailable } from "../../../platform/http/ApiErrors.ts"

/** How long a request waits for WhatsApp. */
export const patience = Duration.seconds(20)

/** What a transaction has left for itself while its request waits. */
const margin = Duration.seconds(5)

/** How many requests of a node may hold a connection to the database while they wait for WhatsApp. */
export class RequestWaits extends Context.Service<RequestWaits, {
  /** Waits, with an `Idempotency-Key` in its transaction: a quarter of the connections may be held so, no more. */
  readonly bounded: <A, E>(wait: Effect.Effect<A, E>) => Effect.Effect<A, E | ServiceUnavailable>
}>()("messaging-service/channels/whatsapp/socket/RequestWaits") {
  static readonly layer = Layer.effect(
    RequestWaits,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { databaseConnections } = yield* AppConfig
      const holding = yield* Semaphore.make(Math.floor(databaseConnections / 4))

      return RequestWaits.of({
        bounded: Effect.fnUntraced(function*<A, E>(wait: Effect.Effect<A, E>) {
          if (!(yield* inTransaction)) return yield* wait
          const idle = idleInTransaction(wait, Duration.sum(patience, margin))
          const done = yield* Effect.provideService(holding.withPermitsIfAvailable(1)(idle), SqlClient.SqlClient, sql)
          return Option.isSome(done) ? done.value : yield* new ServiceUnavailable()
        })
      })
    })
  )
}

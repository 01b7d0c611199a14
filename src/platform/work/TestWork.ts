import { Context, Effect, Latch, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Query from "../database/Query.ts"
import { PeriodicTask } from "./PeriodicTask.ts"

/** How late a node can learn that another node has created the first test key. */
const pollInterval = "15 seconds"

/** Starts the workers of test rows as soon as there can be any, so that a node without test keys polls for none. */
export class TestWork extends Context.Service<TestWork, {
  /** Ends once the installation has a shadow account. */
  readonly begins: Effect.Effect<void>
  /** Notes that it has one. */
  readonly note: () => void
}>()("messaging-service/platform/work/TestWork") {
  static readonly layer = Layer.effect(
    TestWork,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const latch = Latch.makeUnsafe(false)
      const note = () => void latch.openUnsafe()
      const exist = Query.findOne({
        Request: Schema.Void,
        Result: Schema.Struct({ is: Schema.Boolean }),
        execute: () => sql`select exists (select from accounts where id < 0) as is`
      })
      const look = Effect.map(exist(), ({ is }) => is ? note() : undefined)
      yield* Effect.forkScoped(
        Effect.raceFirst(latch.await, PeriodicTask.repeat("looking for test keys", pollInterval, look))
      )
      return TestWork.of({ begins: latch.await, note })
    })
  )
}

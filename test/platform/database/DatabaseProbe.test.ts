import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseProbe } from "../../../src/platform/database/DatabaseProbe.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

/** Blocks the process for longer than anything else in it. */
const holdUp = (millis: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, millis)

layer(DatabaseProbe.fromClient.pipe(Layer.provideMerge(TestDatabase.layer)), { excludeTestServices: true })(
  "DatabaseProbe",
  (it) => {
    it.effect("returns true if the process was held up and the answer has arrived meanwhile", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { answers } = yield* DatabaseProbe
        yield* sql`select 1`
        for (let round = 0; round < 2; round++) {
          setImmediate(() => holdUp(1_000))
          assert.isTrue(yield* answers("50 millis"))
        }
      }))
  }
)

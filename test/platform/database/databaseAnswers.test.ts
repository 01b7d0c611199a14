import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { databaseAnswers } from "../../../src/platform/database/databaseAnswers.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

/** Nothing else of this process runs for so long. */
const holdUp = (millis: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, millis)

layer(TestDatabase.layer, { excludeTestServices: true })("asking whether the database answers", (it) => {
  it.effect("says yes when the process was held up and the answer has come meanwhile", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const answers = yield* databaseAnswers
      yield* sql`select 1`
      for (let round = 0; round < 2; round++) {
        setImmediate(() => holdUp(1_000))
        assert.isTrue(yield* answers("50 millis"))
      }
    }))
})

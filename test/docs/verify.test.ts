import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestDatabase } from "../support/TestDatabase.ts"
import { blocks, read } from "./documents.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("SQL of docs/webhooks/verify.md", (it) => {
  it.effect("the insert returns a row for a new event and none for a repeated one", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [table = "", done = ""] = blocks(read("docs/webhooks/verify.md"), "sql")
      yield* sql.unsafe(table)
      const rows = yield* Effect.forEach(["evt_1", "evt_1", "evt_2"], (id) => sql.unsafe(done, [id]))
      assert.deepStrictEqual(rows, [[{ id: "evt_1" }], [], [{ id: "evt_2" }]])
    }))
})

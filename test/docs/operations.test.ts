import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestDatabase } from "../support/TestDatabase.ts"
import { blocks, read } from "./documents.ts"

const statements = blocks(read("docs/operations.md"), "sql").flatMap((block) =>
  block.split(";\n").map((statement) => statement.replaceAll(/^--.*$/gm, "").trim())
).filter((statement) => statement !== "")

layer(TestDatabase.layer, { excludeTestServices: true })("SQL of docs/operations.md", (it) => {
  it.effect("every statement runs on the current schema", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      assert.isAtLeast(statements.length, 10)
      for (const statement of statements) yield* sql.unsafe(statement)
    }))
})

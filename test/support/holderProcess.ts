/**
 * A process that runs an embedded server, for tests that kill it: it prints "ready" with the milliseconds it took, then
 * answers each line of SQL on stdin with one line of JSON. `node holderProcess.ts DATA_DIR [durable]`
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { PgClient } from "@effect/sql-pg"
import { Console, Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeProcess from "node:process"
import * as NodeReadline from "node:readline"
import * as EmbeddedPostgres from "../../src/platform/database/embedded/EmbeddedPostgres.ts"
import { longer } from "./waiting.ts"

const dataDir = NodeProcess.argv[2] ?? "./data/db"
const durable = NodeProcess.argv[3] === "durable"

const answerLines = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const lines = Stream.fromAsyncIterable(NodeReadline.createInterface({ input: NodeProcess.stdin }), String)
  yield* Stream.runForEach(lines, (line) =>
    sql.unsafe(line).unprepared.pipe(
      Effect.match({ onSuccess: (rows) => ({ rows }), onFailure: (error) => ({ error: String(error.reason.cause) }) }),
      Effect.flatMap((answer) => Console.log(JSON.stringify(answer)))
    ))
})

const program = Effect.gen(function*() {
  const server = yield* EmbeddedPostgres.acquire({ dataDir, durable })
  yield* Console.log(JSON.stringify({ ready: Math.round(performance.now()), ...server }))
  yield* answerLines.pipe(
    Effect.provide(
      PgClient.layer({
        path: server.socket,
        username: "postgres",
        database: "postgres",
        maxConnections: 2,
        connectTimeout: longer.start
      })
    )
  )
  return yield* Effect.never
})

NodeRuntime.runMain(Effect.scoped(program))

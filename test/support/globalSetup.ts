/**
 * One PostgreSQL for a test run, removed at its end, with a migrated template database: copying that for each test file
 * takes a fraction of the time of migrating.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { TestProject } from "vitest/node"
import * as Migrations from "../../src/platform/database/Migrations.ts"
import { faultsOf } from "../contract/statements.ts"
import { makeDnsServer } from "./DnsServer.ts"
import { executedStatements, recording, startRecording } from "./executedStatements.ts"
import { temporaryServer } from "./temporaryServer.ts"
import { longer } from "./waiting.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** Port of the test server on 127.0.0.1. */
    readonly pgPort: number
    /** The migrated database that test databases are copied from. */
    readonly pgTemplate: string
    /** A name server without records, so that no test asks the machine's. */
    readonly nameServer: string
  }
}

const template = "template_migrated"

const clientOf = (port: number, database: string) =>
  PgClient.layer({
    host: "127.0.0.1",
    port,
    username: "postgres",
    database,
    maxConnections: 1,
    connectTimeout: longer.start
  })

const makeTemplate = Effect.fn("globalSetup.makeTemplate")(function*(port: number) {
  const onServer = (statement: string) =>
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(Effect.provide(clientOf(port, "postgres")))
  yield* onServer(`create database ${template}`)
  yield* Migrations.migrate(Migrations.directory).pipe(Effect.provide([clientOf(port, template), NodeFileSystem.layer]))
  // A database with open connections cannot be copied.
  yield* onServer(`alter database ${template} with allow_connections false`)
})

export default async function globalSetup(project: TestProject) {
  const scope = Scope.makeUnsafe()
  const setUp = Effect.gen(function*() {
    const { port } = yield* temporaryServer(recording, process.env["TEST_DATABASE_DIR"])
    yield* makeTemplate(port)
    yield* Effect.provide(startRecording, clientOf(port, "postgres"))
    project.provide("pgPort", port)
    project.provide("pgTemplate", template)
    project.provide("nameServer", (yield* makeDnsServer({})).address)
    return port
  }).pipe(
    Scope.provide(scope),
    Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
  )
  const port = await Effect.runPromise(setUp)
  const checkStatements = Effect.gen(function*() {
    const faults = faultsOf(yield* executedStatements)
    if (faults.length > 0) return yield* Effect.die(new Error(faults.join("\n")))
  }).pipe(Effect.provide(clientOf(port, "postgres")))
  return () => Effect.runPromise(Effect.ensuring(checkStatements, Scope.close(scope, Exit.void)))
}

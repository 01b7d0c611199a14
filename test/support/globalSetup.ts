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
import { temporaryServer } from "./temporaryServer.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** Port of the test server on 127.0.0.1. */
    readonly pgPort: number
    /** The migrated database that test databases are copied from. */
    readonly pgTemplate: string
  }
}

const template = "template_migrated"

const makeTemplate = Effect.fn("globalSetup.makeTemplate")(function*(port: number) {
  const client = (database: string) => PgClient.layer({ host: "127.0.0.1", port, username: "postgres", database })
  const onServer = (statement: string) =>
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(Effect.provide(client("postgres")))
  yield* onServer(`create database ${template}`)
  yield* Migrations.migrate(Migrations.directory).pipe(Effect.provide([client(template), NodeFileSystem.layer]))
  // A database with open connections cannot be copied.
  yield* onServer(`alter database ${template} with allow_connections false`)
})

export default async function globalSetup(project: TestProject) {
  const scope = Scope.makeUnsafe()
  const setUp = Effect.gen(function*() {
    const { port } = yield* temporaryServer
    yield* makeTemplate(port)
    project.provide("pgPort", port)
    project.provide("pgTemplate", template)
  }).pipe(
    Scope.provide(scope),
    Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
  )
  await Effect.runPromise(setUp)
  return () => Effect.runPromise(Scope.close(scope, Exit.void))
}

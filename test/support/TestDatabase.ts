import { PgClient } from "@effect/sql-pg"
import { Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeCrypto from "node:crypto"
import { inject } from "vitest"
import { Database } from "../../src/platform/database/Database.ts"
import * as PgCodecs from "../../src/platform/database/PgCodecs.ts"
import { retryWhileUnavailable } from "../../src/platform/database/unavailable.ts"
import { serviceUser } from "./executedStatements.ts"
import { longer } from "./waiting.ts"

/** Connection settings of a database on the test server. */
export interface Connection {
  readonly host: string
  readonly port: number
  readonly username: string
  readonly database: string
}

const connectionTo = (database: string): Connection => {
  const port = inject("pgPort")
  if (port === undefined) throw new Error("vitest.config.ts has to name test/support/globalSetup.ts as globalSetup")
  return { host: "127.0.0.1", port, username: "postgres", database }
}

const urlOf = ({ database, host, port, username }: Connection) => `postgres://${username}@${host}:${port}/${database}`

/** PostgreSQL starts a process for each connection. */
const session = { connectTimeout: longer.start } as const

/** A test may let hours pass on its clock while a connection begins or is idle. */
const timeless = { connectTimeout: Duration.infinity, idleTimeout: Duration.infinity } as const

const onServer = (statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement).unprepared).pipe(
    Effect.provide(PgClient.layer({ ...connectionTo("postgres"), ...session, maxConnections: 1 })),
    // Everything that runs at the same time shares the server, which may have no free connection at the moment.
    retryWhileUnavailable,
    Effect.orDie
  )

/**
 * A new database on the test run's server, dropped with the scope. `template` is "template1" for one without tables.
 */
export const make = Effect.fn("TestDatabase.make")(function*(template: string = inject("pgTemplate")) {
  const database = `test_${NodeCrypto.randomBytes(6).toString("hex")}`
  yield* Effect.acquireRelease(
    onServer(`create database ${database} template ${template} strategy file_copy`),
    () => onServer(`drop database ${database} with (force)`)
  )
  const connection = connectionTo(database)
  return { ...connection, url: urlOf(connection), nodeUrl: urlOf({ ...connection, username: serviceUser }) }
})

interface TestConnection extends Connection {
  readonly url: string
  /** For nodes, which have their own user on the shared server, by which it knows their statements. */
  readonly nodeUrl?: string
}

/**
 * A new migrated database for a test file: `layer(TestDatabase.layer)("…", (it) => …)` gives the tests `SqlClient`,
 * `PgClient`, `Database` and this service; `url` is the DATABASE_URL for a node.
 */
export class TestDatabase extends Context.Service<TestDatabase, TestConnection>()(
  "messaging-service/test/support/TestDatabase"
) {
  static readonly layerConnection = Layer.effect(TestDatabase, make())

  static readonly layerClient = Database.fromClient.pipe(
    Layer.provideMerge(Layer.unwrap(
      Effect.map(
        TestDatabase,
        ({ database, host, port, username }) =>
          PgClient.layer({ database, host, port, username, ...timeless, maxConnections: 8, types: PgCodecs.registry })
      )
    ))
  )

  static readonly layer = TestDatabase.layerClient.pipe(Layer.provideMerge(TestDatabase.layerConnection))
}

/** {@link Database.transaction} on the pool in the context, for tests that need no other member. */
export const transaction = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Database, (database) => database.transaction(effect))

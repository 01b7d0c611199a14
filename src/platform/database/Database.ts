import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import type { SqlError } from "effect/sql"
import { AppConfig } from "../config/AppConfig.ts"
import * as EmbeddedPostgres from "./EmbeddedPostgres.ts"
import { directory, migrate } from "./Migrations.ts"
import * as PgCodecs from "./PgCodecs.ts"

/** How to reach the database: the operator's server, or the embedded one, which runs as long as this is held. */
export class DatabaseAddress extends Context.Service<DatabaseAddress, {
  readonly connection: { readonly url: Redacted.Redacted } | { readonly path: string; readonly username: string }
  readonly isEmbedded: boolean
}>()("messaging-service/platform/database/Database/DatabaseAddress") {
  static readonly layer = Layer.effect(
    DatabaseAddress,
    Effect.gen(function*() {
      const { databaseUrl, dataDir } = yield* AppConfig
      if (databaseUrl !== undefined) {
        const url = Redacted.make(Redacted.value(databaseUrl).href)
        return DatabaseAddress.of({ connection: { url }, isEmbedded: false })
      }
      const { socket } = yield* EmbeddedPostgres.acquire({ dataDir: `${dataDir}/db` })
      return DatabaseAddress.of({ connection: { path: socket, username: "postgres" }, isEmbedded: true })
    })
  )
}

/** The pool that requests and actors share. */
const pool = Layer.unwrap(Effect.gen(function*() {
  const { databaseConnections } = yield* AppConfig
  const { connection } = yield* DatabaseAddress
  return PgClient.layer({
    ...connection,
    types: PgCodecs.registry,
    maxConnections: databaseConnections,
    // A node that freezes within a transaction must not hold its row locks until it thaws.
    startupParameters: { idle_in_transaction_session_timeout: "8s" },
    applicationName: "messaging-service",
    connectTimeout: "3 seconds",
    // A server that vanished without a word is noticed, and its connections are replaced.
    keepAlive: "10 seconds"
  })
}))

/** The operator's server does not answer, or refuses us. */
class DatabaseUnreachable extends Schema.TaggedError<DatabaseUnreachable>()("DatabaseUnreachable", {
  reason: Schema.String
}) {
  override get message() {
    return `PostgreSQL cannot be used: ${this.reason}. Check DATABASE_URL, or unset it to use the embedded database.`
  }
}

/** The client's own words for what went wrong, without its name in front. */
const reasonOf = ({ reason }: SqlError.SqlError): string => {
  const { cause } = reason
  return (cause instanceof Error ? cause.message : reason.message).replace(/^PgConnection: /, "")
}

const upToDate = Effect.catchTag(
  migrate(directory),
  "SqlError",
  (error) => Effect.fail(new DatabaseUnreachable({ reason: reasonOf(error) }))
)

/** The pool, on a database that is up to date. */
export const Database = Layer.effectDiscard(upToDate).pipe(Layer.provideMerge(pool))

/**
 * The pool of the cluster: apart, so that shard locks and heartbeats never wait behind requests, and with the client's
 * own codecs, as the library reads its own tables. One connection holds the shard locks for good.
 */
export const ClusterDatabase = Layer.unwrap(
  Effect.map(DatabaseAddress, ({ connection }) =>
    PgClient.layer({
      ...connection,
      maxConnections: 4,
      applicationName: "messaging-service-cluster",
      connectTimeout: "3 seconds",
      keepAlive: "10 seconds"
    }))
)

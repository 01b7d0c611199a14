import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted } from "effect"
import { AppConfig } from "../config/AppConfig.ts"
import { DatabaseUnreachable } from "./DatabaseUnreachable.ts"
import * as EmbeddedPostgres from "./embedded/EmbeddedPostgres.ts"
import { directory, migrate } from "./Migrations.ts"
import { makePartitions } from "./Partitions.ts"
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

/** A node that freezes within a transaction must not hold its row locks until it thaws. */
const patience = { idle_in_transaction_session_timeout: "8s" }

const pool = (options: { readonly maxConnections: number; readonly startupParameters: Record<string, string> }) =>
  Effect.map(DatabaseAddress, ({ connection }) =>
    PgClient.layer({
      ...connection,
      ...options,
      types: PgCodecs.registry,
      applicationName: "messaging-service",
      connectTimeout: "3 seconds",
      // A server that vanished without a word is noticed, and its connections are replaced.
      keepAlive: "10 seconds"
    }))

/** The pool that requests share. */
const requestPool = Layer.unwrap(
  Effect.flatMap(
    AppConfig,
    ({ databaseConnections }) => pool({ maxConnections: databaseConnections, startupParameters: patience })
  )
)

/**
 * The pool of actors for their queues, apart so that what has been done is written down however many requests wait.
 * Their statements find few rows by an index. The planner is told so: a queue is empty when its statistics are made and
 * long a second later, and a plan that reads the whole of an empty table is kept when it is no longer empty.
 */
export const QueueDatabase = Layer.unwrap(
  pool({
    maxConnections: 4,
    startupParameters: {
      ...patience,
      enable_seqscan: "off",
      enable_bitmapscan: "off",
      enable_hashjoin: "off",
      enable_mergejoin: "off"
    }
  })
)

const upToDate = migrate(directory).pipe(
  Effect.andThen(makePartitions),
  Effect.catchTag("SqlError", (error) => Effect.fail(DatabaseUnreachable.from(error)))
)

/** The pool, on a database that is up to date and has partitions for the days to come. */
export const Database = Layer.effectDiscard(upToDate).pipe(Layer.provideMerge(requestPool))

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

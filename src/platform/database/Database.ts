import { PgClient, PgPool } from "@effect/sql-pg"
import { Context, Duration, Effect, identity, Layer, Option, type Redacted } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import * as NodePath from "node:path"
import { AppConfig } from "../config/AppConfig.ts"
import { DatabaseProbe } from "./DatabaseProbe.ts"
import { DatabaseUnreachable } from "./DatabaseUnreachable.ts"
import { databaseConnection } from "./DatabaseUrl.ts"
import * as EmbeddedPostgres from "./embedded/EmbeddedPostgres.ts"
import { directory, migrate } from "./Migrations.ts"
import { createPartitions } from "./Partitions.ts"
import * as PgCodecs from "./PgCodecs.ts"
import { FirstReadOf, QuickReads, rowsSentAhead } from "./QuickReads.ts"
import { leavesReadOnly } from "./ReadOnly.ts"

/** The address of the operator's server, or of the embedded one, which runs until this layer's scope closes. */
export class DatabaseAddress extends Context.Service<DatabaseAddress, {
  readonly connection:
    | { readonly url: Redacted.Redacted; readonly ssl?: boolean | { readonly ca: string } }
    | { readonly path: string; readonly username: string }
  readonly isEmbedded: boolean
}>()("messaging-service/platform/database/Database/DatabaseAddress") {
  static readonly layer = Layer.effect(
    DatabaseAddress,
    Effect.gen(function*() {
      const { databaseUrl, dataDir } = yield* AppConfig
      if (databaseUrl !== undefined) {
        return DatabaseAddress.of({ connection: yield* databaseConnection(databaseUrl), isEmbedded: false })
      }
      const place = NodePath.resolve(dataDir, "db")
      const { base, socket } = yield* EmbeddedPostgres.acquire({ dataDir: place })
      // People look for it in DATA_DIR, and copy that directory as a backup.
      if (base !== place) yield* Effect.logInfo(`the database is in ${base}: its account cannot enter ${place}`)
      return DatabaseAddress.of({ connection: { path: socket, username: "postgres" }, isEmbedded: true })
    })
  )
}

/** Ends a transaction whose node froze, so that its row locks do not last until the node thaws. */
const idleTimeout = { idle_in_transaction_session_timeout: "8s" }

/** What all connections of the service have in common. */
const session = {
  applicationName: "messaging-service",
  connectTimeout: "3 seconds",
  // Detects a server that vanished silently, so that the pool replaces its connections.
  keepAlive: "10 seconds"
} as const

const pool = (options: {
  readonly maxConnections: number
  readonly startupParameters: Record<string, string>
  readonly idleTimeout?: Duration.Duration
}) =>
  Effect.map(DatabaseAddress, ({ connection }) =>
    leavesReadOnly(PgClient.layer({
      ...connection,
      ...options,
      ...session,
      types: PgCodecs.registry
    })))

/** The requests' pool. PostgreSQL ends a statement that takes longer than the limit, so that none holds a connection. */
const requestPool = Layer.unwrap(
  Effect.flatMap(AppConfig, ({ databaseConnections, statementTimeoutSeconds }) =>
    pool({
      maxConnections: databaseConnections,
      startupParameters: { ...idleTimeout, statement_timeout: `${statementTimeoutSeconds}s` }
    }))
)

/** For work that may take long and that no request waits for: migrations, commands, pruning. */
const maintenancePool = Layer.unwrap(pool({ maxConnections: 2, startupParameters: idleTimeout }))

/** For statements that find few rows by an index. */
const byIndex = {
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off"
}

/**
 * Queue statements find few rows by an index. Statistics of an empty queue suggest a sequential scan, and the planner
 * would keep that plan after the queue has grown.
 */
const queuePool = Layer.unwrap(pool({ maxConnections: 4, startupParameters: { ...idleTimeout, ...byIndex } }))

/**
 * Two connections on which many statements travel together, at most `statements` on one.
 *
 * The planner takes an array parameter for longer than it is, prefers a plan for each value, and would plan each look-up
 * again, which costs more than the look-up. So plans are generic.
 */
export const quickConnections = Effect.fnUntraced(function*(statements?: number) {
  const { connection } = yield* DatabaseAddress
  const { statementTimeoutSeconds } = yield* AppConfig
  return yield* PgPool.make({
    ...connection,
    ...session,
    startupParameters: {
      ...idleTimeout,
      ...byIndex,
      plan_cache_mode: "force_generic_plan",
      statement_timeout: `${statementTimeoutSeconds}s`
    },
    maxConnections: 2,
    types: PgCodecs.registry,
    multiplex: true,
    multiplexConcurrency: statements
  })
})

const quickReads = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const shared = yield* quickConnections()
  return QuickReads.of({
    rows: (statement, values) =>
      Effect.contextWith((context) => {
        if (Option.isSome(Context.getOption(context, sql.transactionService))) return sql.unsafe(statement, values)
        const first = Context.get(context, FirstReadOf)
        const sent = first && rowsSentAhead(first, { statement, values })
        return sent ??
          shared.use((connected) => Effect.map(connected.query(statement, values), ({ rows }) => rows))
      })
  })
})

const migrated = migrate(directory).pipe(
  Effect.andThen(createPartitions(1)),
  Effect.catchTag("SqlError", (error) => Effect.fail(DatabaseUnreachable.from(error)))
)

/**
 * What a caller does around a wait who holds more than connections, such as one of few places: gives it back meanwhile. By
 * default a caller holds nothing more.
 */
export const AroundWaits = Context.Reference<<A, E, R>(wait: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>>(
  "messaging-service/platform/database/Database/AroundWaits",
  { defaultValue: () => identity }
)

/** Transactions on one pool of connections: that of the requests, or that of the queues. */
export class Database extends Context.Service<Database, {
  /**
   * Runs an effect in one transaction, or in a savepoint of the current one. A failure of the database is a defect.
   */
  readonly transaction: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, Exclude<E, SqlError.SqlError>, R>
  /**
   * Forks a wake-up after the outermost transaction commits, or at once outside of a transaction. A crash right after
   * the commit loses it, so a sweeper must find the same work.
   */
  readonly afterCommit: (wakeUp: Effect.Effect<void>) => Effect.Effect<void>
  /** Whether the caller is in a transaction, which holds a connection until it ends. */
  readonly inTransaction: Effect.Effect<boolean>
  /**
   * Runs an effect that waits for something other than the caller's own statements: an actor, a name server, another
   * fiber's transaction. It dies in a transaction, because enough callers that wait and hold a connection would stop all
   * others, and those they wait for.
   */
  readonly waitWithoutConnection: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}>()("messaging-service/platform/database/Database") {
  /** On the client in the context. */
  static readonly fromClient = Layer.effect(
    Database,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const inTransaction = Effect.map(Effect.serviceOption(sql.transactionService), Option.isSome)
      return Database.of({
        transaction: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
          Effect.catch(
            sql.withTransaction(effect),
            // The compiler does not narrow a generic E by the check.
            (error) =>
              SqlError.isSqlError(error) ? Effect.die(error) : Effect.fail(error as Exclude<E, SqlError.SqlError>)
          ),
        // Forked, because the client waits for its callbacks before it returns from the transaction.
        afterCommit: (wakeUp) => sql.afterCommit(Effect.asVoid(Effect.forkDetach(wakeUp))),
        inTransaction,
        waitWithoutConnection: (effect) =>
          Effect.flatMap(
            inTransaction,
            (held) =>
              held
                ? Effect.die(new Error("a transaction must not wait for other work"))
                : Effect.flatMap(AroundWaits, (around) => around(effect))
          )
      })
    })
  )

  /** A migrated database that has partitions for the next days. For commands, whose statements have no time limit. */
  static readonly layer = Layer.effectDiscard(migrated).pipe(
    Layer.provideMerge(Database.fromClient),
    Layer.provideMerge(maintenancePool)
  )

  /** The pool of a node's requests, on a migrated database. */
  static readonly layerRequests = Database.fromClient.pipe(
    Layer.provideMerge(requestPool),
    Layer.provideMerge(Layer.effectDiscard(migrated).pipe(Layer.provide(maintenancePool)))
  )

  /** The pool of the actors' queues, so that they can record outcomes however many requests wait for a connection. */
  static readonly layerQueue = Database.fromClient.pipe(Layer.provideMerge(queuePool))

  /** Builds a layer on a pool whose statements have no time limit. */
  static readonly onMaintenancePool = <A, E, R>(layer: Layer.Layer<A, E, R>) =>
    layer.pipe(Layer.provide(Database.fromClient.pipe(Layer.provideMerge(maintenancePool))))

  /**
   * Builds a layer on the queue pool. It shares no instances with the rest of the node: its repositories run their
   * statements on this pool.
   */
  static readonly onQueuePool = <A, E, R>(layer: Layer.Layer<A, E, R>) =>
    Layer.fresh(layer).pipe(Layer.provide(Database.layerQueue))

  /** Quick reads of requests, on two separate connections. */
  static readonly layerQuickReads = Layer.effect(QuickReads, quickReads)

  /**
   * Checks whether the database answers, on a separate connection that stays open, so that it waits neither for a request
   * nor for a new connection.
   */
  static readonly layerProbe = DatabaseProbe.fromClient.pipe(
    Layer.provide(Layer.unwrap(pool({ maxConnections: 1, startupParameters: {}, idleTimeout: Duration.infinity })))
  )

  /**
   * The pool of the cluster, so that shard locks and heartbeats never wait for requests. It has the client's default
   * codecs, which the library expects for its own tables. One connection always holds the shard locks.
   */
  static readonly layerCluster = Layer.unwrap(
    Effect.map(DatabaseAddress, ({ connection }) =>
      leavesReadOnly(PgClient.layer({
        ...connection,
        maxConnections: 4,
        applicationName: "messaging-service-cluster",
        connectTimeout: "3 seconds",
        keepAlive: "10 seconds"
      })))
  )
}

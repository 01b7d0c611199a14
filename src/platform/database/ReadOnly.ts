/**
 * A server that takes no writes: a standby, a primary that was demoted, or one that an operator has made read-only. The
 * client's pool keeps a connection as long as it answers, and a standby answers. Without this, a node whose connections
 * were opened to the old primary after a failover would stay there.
 */
import { Effect, Layer, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { monotonicMillis } from "../schedule/monotonic.ts"
import * as Query from "./Query.ts"

/** Whether the session takes no writes, as a part of a statement. */
export const refusesWrites = (sql: SqlClient.SqlClient) =>
  sql`(pg_is_in_recovery() or current_setting('transaction_read_only')::boolean)`

/**
 * How long a check of the database waits for its answer. Then it gives its connection up: when the database's machine died,
 * nothing arrives on this one ever again, and TCP says so only after a quarter of an hour. A new one reaches the machine
 * that is there now.
 */
export const longestCheck = "10 seconds"

const checkInterval = "5 seconds"

/** Short interruptions close nothing, because actors would move to other nodes. */
const closesAfterMillis = 4_000

/** Refusals that are further apart are two interruptions. A pool may have connections to both servers for a while. */
const forgetsAfterMillis = 30_000

/**
 * Watches one pool. When a connection still refuses writes after some seconds, it closes every connection of the service to
 * that server. New connections go to the address as it is then.
 */
const watch = Layer.effectDiscard(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  let firstAt = -Infinity
  let lastAt = -Infinity

  const check = Query.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ refuses: Schema.Boolean }),
    execute: () => sql`select ${refusesWrites(sql)} as refuses`
  })

  // The last statement ends its own session, so the transaction fails.
  const close = sql.withTransaction(Effect.andThen(
    sql`select pg_terminate_backend(pid) from pg_stat_activity
      where usename = current_user and datname = current_database() and application_name like 'messaging-service%'
        and pid <> pg_backend_pid() and ${refusesWrites(sql)}`,
    sql`select pg_terminate_backend(pg_backend_pid()) where ${refusesWrites(sql)}`
  ))

  const round = Effect.gen(function*() {
    if (!(yield* Effect.timeout(check(), longestCheck)).refuses) return
    const now = yield* monotonicMillis
    if (now - lastAt > forgetsAfterMillis) firstAt = now
    lastAt = now
    if (now - firstAt < closesAfterMillis) return
    yield* Effect.logWarning("PostgreSQL takes no writes, the node connects again")
    yield* close
  })
  yield* Effect.forkScoped(Effect.repeat(Effect.ignoreCause(round), Schedule.spaced(checkInterval)))
}))

/** A pool that leaves a server that takes no writes. */
export const leavesReadOnly = <A, E, R>(pool: Layer.Layer<A | SqlClient.SqlClient, E, R>) =>
  Layer.provideMerge(Layer.fresh(watch), pool)

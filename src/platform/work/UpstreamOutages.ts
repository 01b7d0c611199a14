import { Context, Effect, Layer, Schema, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { Timestamp } from "../../values/Timestamp.ts"
import { Database } from "../database/Database.ts"
import * as Query from "../database/Query.ts"
import { PeriodicTask } from "./PeriodicTask.ts"

const Upstream = Schema.Literals(["relay", "carrier"])
type Upstream = typeof Upstream.Type

/** What a node knows about an upstream. It is unknown while the node sends nothing to it. */
type Reach = "works" | "away" | "unknown"

/** Failed checks in a row before an upstream counts as away: it may reject one connection and accept the next. */
const checksBeforeAway = 2

const makeRepo = Effect.map(SqlClient.SqlClient, (sql) => ({
  /** Removes the rows of nodes that died as well. */
  add: Query.findOne({
    Request: Upstream,
    Result: Schema.Struct({ id: Schema.Int }),
    execute: (upstream) =>
      sql`with gone as (delete from upstream_outages where seen_at < now() - interval '1 minute')
        insert into upstream_outages (upstream) values (${upstream}) returning id`
  }),
  renew: (id: number) => Query.rowCount(sql`update upstream_outages set seen_at = now() where id = ${id} returning 1`),
  remove: (id: number) => Query.run(sql`delete from upstream_outages where id = ${id}`),
  current: Query.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ upstream: Upstream, since: Timestamp }),
    execute: () =>
      sql`select upstream, min(since) as since from upstream_outages
        where seen_at > now() - interval '15 seconds' group by upstream`
  })
}))

/** The rows that this node writes: its checks go on however many requests wait for a connection. */
class OwnRows extends Context.Service<OwnRows, Effect.Success<typeof makeRepo>>()(
  "messaging-service/platform/work/UpstreamOutages/OwnRows"
) {
  static readonly layer = Database.onMaintenancePool(Layer.effect(OwnRows, makeRepo))
}

/**
 * Which upstreams the nodes cannot reach. Each node knows that in memory; it writes a row only while an upstream is away, so
 * that every node can tell, and sending needs no statement more.
 */
export class UpstreamOutages extends Context.Service<UpstreamOutages, {
  /** Publishes what this node finds out, until the scope closes. */
  readonly watch: (upstream: Upstream, reach: Effect.Effect<Reach>) => Effect.Effect<void, never, Scope.Scope>
  /** The upstreams that some node cannot reach, and since when. */
  readonly current: Effect.Effect<ReadonlyArray<{ readonly upstream: Upstream; readonly since: Timestamp }>>
}>()("messaging-service/platform/work/UpstreamOutages") {
  static readonly layer = Layer.effect(
    UpstreamOutages,
    Effect.gen(function*() {
      const repo = yield* OwnRows
      const { current } = yield* makeRepo
      return UpstreamOutages.of({
        watch: Effect.fnUntraced(function*(upstream, reach) {
          let failedChecks = 0
          let row: number | undefined
          const forget = Effect.gen(function*() {
            if (row !== undefined) yield* repo.remove(row)
            row = undefined
          })
          const publish = Effect.gen(function*() {
            // Another node removes the row of a node that froze.
            if (row !== undefined && (yield* repo.renew(row)) > 0) return
            row = (yield* repo.add(upstream)).id
          })
          const check = Effect.flatMap(reach, (found) => {
            if (found === "unknown") return Effect.void
            failedChecks = found === "away" ? failedChecks + 1 : 0
            return failedChecks === 0 ? forget : failedChecks < checksBeforeAway ? Effect.void : publish
          })
          yield* Effect.addFinalizer(() => Effect.ignoreCause(Effect.timeout(forget, "1 second")))
          yield* Effect.forkScoped(PeriodicTask.repeat(`watching the ${upstream}`, "2 seconds", check))
        }),
        current: current()
      })
    })
  ).pipe(Layer.provide(OwnRows.layer))
}

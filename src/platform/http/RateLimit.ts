import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { coalesce } from "../database/coalesce.ts"
import { column } from "../database/column.ts"

/** Where a bucket stands after this request was counted. */
export interface Usage {
  /** Requests of this bucket in the running minute, this one included. */
  readonly used: number
  /** Unix seconds at which the minute ends. */
  readonly resetsAt: number
  /** Seconds until then, at least 1. */
  readonly secondsLeft: number
}

/**
 * Counts requests per bucket and minute, exactly and over all nodes: the counters are rows of PostgreSQL, by its clock.
 * The requests that arrive while a count is under way are counted together in one statement.
 */
export class RateLimit extends Context.Service<RateLimit, {
  /** Counts one request of a bucket, such as `key:7` or `login:203.0.113.9`. */
  readonly count: (bucket: string) => Effect.Effect<Usage>
}>()("messaging-service/platform/http/RateLimit") {
  static readonly layer = Layer.effect(
    RateLimit,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const add = SqlSchema.findAll({
        Request: Schema.Struct({ buckets: Schema.Array(Schema.String), counts: Schema.Array(Schema.Int) }),
        Result: Schema.Struct({
          bucket: Schema.String,
          used: Schema.Int,
          resetsAt: Schema.Int,
          secondsLeft: Schema.Int
        }),
        execute: ({ buckets, counts }) =>
          sql`
            insert into rate_windows as w (bucket, starts_at, used)
            select bucket, date_trunc('minute', now()), n
            from unnest(${column.text(buckets)}, ${column.int4(counts)}) as t (bucket, n) order by bucket
            on conflict (bucket, starts_at) do update set used = w.used + excluded.used
            returning bucket, used, extract(epoch from starts_at)::bigint + 60 as "resetsAt",
              ceil(extract(epoch from starts_at + interval '60 s' - now()))::int as "secondsLeft"`
      })
      const count = yield* coalesce({
        most: 500,
        lanes: 2,
        run: Effect.fnUntraced(function*(buckets: ReadonlyArray<string>) {
          const counts = new Map<string, number>()
          for (const bucket of buckets) counts.set(bucket, (counts.get(bucket) ?? 0) + 1)
          const rows = yield* Effect.orDie(add({ buckets: [...counts.keys()], counts: [...counts.values()] }))
          // Where each bucket stood before this group; every request of the group then counts one more.
          const usage = new Map(
            rows.map((row) => [row.bucket, { ...row, used: row.used - (counts.get(row.bucket) ?? 0) }])
          )
          return buckets.map((bucket) => {
            // The statement returns every bucket that it was given.
            const row = usage.get(bucket) as Usage & { used: number }
            row.used++
            return { ...row }
          })
        })
      })
      return RateLimit.of({ count })
    })
  )
}

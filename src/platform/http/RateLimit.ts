import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema, type Statement } from "effect/sql"
import { coalesce } from "../database/coalesce.ts"
import { column } from "../database/column.ts"

/** Where a bucket stands after this request was counted. */
export const Usage = Schema.Struct({
  /** Requests of this bucket in the running minute, this one included. */
  used: Schema.Int,
  /** Unix seconds at which the minute ends. */
  resetsAt: Schema.Int,
  /** Seconds until then, at least 1. */
  secondsLeft: Schema.Int
})
export type Usage = typeof Usage.Type

/**
 * The statement that counts one request for each row of `requests`, a relation with the columns `bucket` (null: not
 * counted) and `position`, and answers with these rows and their {@link Usage}, in the order of their positions. For
 * whoever has to ask the database about a request anyway, so that it is counted in the same round trip.
 */
export const countingSql = (
  sql: SqlClient.SqlClient,
  requests: Statement.Fragment
) =>
  sql`with requests as (${requests}), counted as (
      insert into rate_windows as w (bucket, starts_at, used)
      select bucket, date_trunc('minute', now()), count(*) from requests
      where bucket is not null group by bucket order by bucket
      on conflict (bucket, starts_at) do update set used = w.used + excluded.used
      returning bucket, used, extract(epoch from starts_at)::bigint + 60 as "resetsAt",
        ceil(extract(epoch from starts_at + interval '60 s' - now()))::int as "secondsLeft"
    )
    select requests.*, "resetsAt", "secondsLeft", counted.used - count(*) over (partition by bucket)
      + row_number() over (partition by bucket order by position) as used
    from requests left join counted using (bucket) order by position`

/**
 * Counts requests per bucket and minute, exactly and over all nodes: the counters are rows of PostgreSQL, by its clock.
 * The requests that arrive while a count is under way are counted together in one statement.
 */
export class RateLimit extends Context.Service<RateLimit, {
  /** Counts one request of a bucket, such as `login:203.0.113.9`. */
  readonly count: (bucket: string) => Effect.Effect<Usage>
}>()("messaging-service/platform/http/RateLimit") {
  static readonly layer = Layer.effect(
    RateLimit,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const add = SqlSchema.findAll({
        Request: Schema.Array(Schema.String),
        Result: Usage,
        execute: (buckets) =>
          countingSql(sql, sql`select * from unnest(${column.text(buckets)}) with ordinality as t (bucket, position)`)
      })
      const count = yield* coalesce({
        most: 500,
        concurrency: 2,
        run: (buckets: ReadonlyArray<string>) => Effect.orDie(add(buckets))
      })
      return RateLimit.of({ count })
    })
  )
}

import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { column } from "../database/column.ts"
import * as Query from "../database/Query.ts"
import { GroupCommit } from "../work/GroupCommit.ts"
import { RateLimitExceeded } from "./ApiErrors.ts"
import { RequestContext } from "./RequestContext.ts"

/** The state of a bucket after this request. */
export const Usage = Schema.Struct({
  /** Requests of this bucket in the current minute, including this one. */
  used: Schema.Int,
  /** The end of the minute, in Unix seconds. */
  resetsAt: Schema.Int,
  /** Seconds until then, at least 1. */
  secondsLeft: Schema.Int
})
export type Usage = typeof Usage.Type

/**
 * The statement that counts one request for each row of `requests`, a relation with the columns `bucket`, `shared_bucket`
 * (null is not counted) and `position`. It returns these rows with their {@link Usage} of `bucket`, and with the requests
 * of `shared_bucket` as `shared_used`, ordered by position. A caller that queries the database anyway counts the request in
 * the same round trip.
 */
export const countingSql = (
  sql: SqlClient.SqlClient,
  requests: Statement.Fragment
) =>
  sql`with requests as (${requests}), counted as (
      insert into rate_windows as w (bucket, starts_at, used)
      select bucket, date_trunc('minute', now()), count(*)
      from (select bucket from requests union all select shared_bucket from requests) as counting
      where bucket is not null group by bucket order by bucket
      on conflict (bucket, starts_at) do update set used = w.used + excluded.used
      returning bucket, used, extract(epoch from starts_at)::bigint + 60 as "resetsAt",
        ceil(extract(epoch from starts_at + interval '60 s' - now()))::int as "secondsLeft"
    )
    select requests.*, own."resetsAt", own."secondsLeft", own.used - count(*) over (partition by requests.bucket)
      + row_number() over (partition by requests.bucket order by position) as used,
      shared.used - count(*) over (partition by shared_bucket)
      + row_number() over (partition by shared_bucket order by position) as shared_used
    from requests left join counted own using (bucket) left join counted shared on shared.bucket = shared_bucket
    order by position`

/**
 * Counts requests per bucket and minute, exactly and over all nodes: the counters are rows, and PostgreSQL's clock decides.
 * Requests that arrive while a statement runs share the next one.
 */
export class RateLimit extends Context.Service<RateLimit, {
  /** Counts one request of a bucket, for example `login:203.0.113.9`. */
  readonly count: (bucket: string) => Effect.Effect<Usage>
}>()("messaging-service/platform/http/RateLimit") {
  static readonly layer = Layer.effect(
    RateLimit,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const add = Query.findAll({
        Request: Schema.Array(Schema.String),
        Result: Usage,
        execute: (buckets) =>
          countingSql(
            sql,
            sql`select *, null::text as shared_bucket
              from unnest(${column.text(buckets)}) with ordinality as t (bucket, position)`
          )
      })
      const count = yield* GroupCommit.make({
        maxSize: 500,
        concurrency: 2,
        run: (buckets: ReadonlyArray<string>) => add(buckets)
      })
      return RateLimit.of({ count })
    })
  )
}

/** Counts a request in its bucket and refuses it with 429 above the limit. */
export const limitPerMinute = Effect.fnUntraced(
  function*(limits: RateLimit["Service"], bucket: string, limit: number) {
    const { secondsLeft, used } = yield* limits.count(bucket)
    if (used <= limit) return
    const { answerHeaders } = yield* RequestContext
    answerHeaders.set("retry-after", String(secondsLeft))
    return yield* new RateLimitExceeded({ limit, retry_after: secondsLeft })
  }
)

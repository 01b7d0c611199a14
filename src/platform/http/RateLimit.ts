import { Clock, Context, Effect, Layer, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { column } from "../database/column.ts"
import { Database } from "../database/Database.ts"
import * as Query from "../database/Query.ts"
import { GroupCommit } from "../work/GroupCommit.ts"
import { RateLimitExceeded } from "./ApiErrors.ts"
import { type Bucket, RateSlices, type Rest, type Usage } from "./RateSlices.ts"
import { RequestContext } from "./RequestContext.ts"

const Amount = Schema.Struct({ name: Schema.String, amount: Schema.Int })

const Taken = Schema.Struct({
  bucket: Schema.String,
  used: Schema.Int,
  resetsAt: Schema.Int,
  millisLeft: Schema.Int
})

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  /** Counts requests in the current minute. Locks the rows in the order of their names, as every node does. */
  const take = Query.findAll({
    Request: Schema.Array(Amount),
    Result: Taken,
    execute: (amounts) =>
      sql`insert into rate_windows as w (bucket, starts_at, used)
        select bucket, date_trunc('minute', now()), amount
        from unnest(${column.text(amounts.map(({ name }) => name))},
          ${column.int4(amounts.map(({ amount }) => amount))}) as t (bucket, amount)
        order by bucket
        on conflict (bucket, starts_at) do update set used = w.used + excluded.used
        returning bucket, used, extract(epoch from starts_at)::bigint + 60 as "resetsAt",
          floor(extract(epoch from starts_at + interval '60 s' - now()) * 1000)::int as "millisLeft"`
  })

  const release = (rests: ReadonlyArray<Rest>) =>
    Query.run(
      sql`with rests as (
          select w.bucket, w.starts_at, t.amount
          from unnest(${column.text(rests.map(({ name }) => name))}, ${
        column.int8(rests.map(({ resetsAt }) => resetsAt))
      }, ${column.int4(rests.map(({ amount }) => amount))}) as t (bucket, resets_at, amount)
          join rate_windows w on w.bucket = t.bucket and w.starts_at = to_timestamp(t.resets_at - 60)
          order by w.bucket for update of w
        )
        update rate_windows w set used = w.used - rests.amount from rests
        where w.bucket = rests.bucket and w.starts_at = rests.starts_at`
    )

  return { take, release }
})

/** One usage for each bucket. */
type Usages<B extends ReadonlyArray<Bucket>> = { readonly [I in keyof B]: Usage }

/** A bucket of a request, or one whose slice is nearly used up. */
interface Asked {
  readonly bucket: Bucket
  readonly isRenewal: boolean
}

interface Waiting {
  readonly bucket: Bucket
  readonly positions: Array<number>
}

/** The inputs that no slice covers, by bucket. No request waits for a renewal. */
const byBucket = (asked: ReadonlyArray<Asked>, isCounted: (position: number) => boolean) => {
  const waiting = new Map<string, Waiting>()
  for (const [position, { bucket, isRenewal }] of asked.entries()) {
    if (isCounted(position)) continue
    const known = waiting.get(bucket.name) ?? { bucket, positions: [] }
    waiting.set(bucket.name, known)
    if (!isRenewal) known.positions.push(position)
  }
  return [...waiting.values()]
}

/**
 * Counts requests per bucket and minute. The counters are rows, and PostgreSQL's clock decides, so all nodes together never
 * admit more than a limit. A node counts some requests ahead, as many as it needs for a part of a second, and the next ones
 * before these are used up. It releases what it did not use after a second without a request. A node that is killed loses
 * that slice for the rest of the minute.
 */
export class RateLimit extends Context.Service<RateLimit, {
  /** Counts one request in each bucket. */
  readonly count: <const B extends ReadonlyArray<Bucket>>(buckets: B) => Effect.Effect<Usages<B>>
  /** Counts one request in each bucket, if that needs no statement. */
  readonly spend: <const B extends ReadonlyArray<Bucket>>(buckets: B) => Usages<B> | undefined
}>()("messaging-service/platform/http/RateLimit") {
  static readonly layer = Layer.effect(
    RateLimit,
    Effect.gen(function*() {
      const statements = yield* make
      const { waitWithoutConnection } = yield* Database
      const clock = yield* Clock.Clock
      const slices = new RateSlices()
      const now = () => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)

      /** A slice that another group has taken meanwhile covers some of them. */
      const countAll = Effect.fnUntraced(function*(asked: ReadonlyArray<Asked>) {
        const askedAt = now()
        const usages = asked.map(({ bucket, isRenewal }) =>
          isRenewal ? undefined : slices.spend([bucket], askedAt)?.[0]
        )
        const takes = byBucket(asked, (position) => usages[position] !== undefined)
          .map((one) => ({ ...one, amount: slices.wanted(one.bucket, one.positions.length, askedAt) }))
          .filter(({ amount }) => amount > 0)
        const rows = takes.length === 0
          ? []
          : yield* statements.take(takes.map(({ amount, bucket: { name } }) => ({ name, amount })))
        const taken = new Map(rows.map((row) => [row.bucket, row]))
        for (const { amount, bucket, positions } of takes) {
          // The statement returns each bucket.
          const row = taken.get(bucket.name) ?? { used: 0, resetsAt: 0, millisLeft: 0 }
          const own = slices.take({ bucket, waiting: positions.length, amount, taken: row, askedAt })
          for (const [at, position] of positions.entries()) usages[position] = own[at]
        }
        // Each bucket of a request has got its usages.
        return usages as ReadonlyArray<Usage>
      })

      const submit = yield* GroupCommit.makeWithCallback({
        maxSize: 500,
        // One at a time, so that requests that wait find the slice of those before them.
        concurrency: 1,
        run: (requests: ReadonlyArray<ReadonlyArray<Asked>>) =>
          Effect.map(countAll(requests.flat()), (usages) => {
            const rest = [...usages]
            return requests.map(({ length }) => rest.splice(0, length))
          })
      })
      const counted = (buckets: ReadonlyArray<Bucket>) =>
        waitWithoutConnection(
          Effect.callback<ReadonlyArray<Usage>>((resume) =>
            submit(buckets.map((bucket) => ({ bucket, isRenewal: false })), resume)
          )
        )

      const release = (rests: ReadonlyArray<Rest>) =>
        rests.length === 0 ? Effect.void : Effect.ignoreCause(statements.release(rests))
      yield* Effect.forkScoped(
        Effect.repeat(Effect.suspend(() => release(slices.idleRests(now()))), Schedule.spaced("500 millis"))
      )
      yield* Effect.addFinalizer(() => release(slices.allRests(now())))

      // Both answer one usage for each bucket, hence the types.
      const spend = <const B extends ReadonlyArray<Bucket>>(buckets: B) => {
        const at = now()
        const usages = slices.spend(buckets, at) as Usages<B> | undefined
        // If it fails, the request that finds the slice used up takes the next one.
        for (const bucket of buckets) {
          if (slices.startsRenewal(bucket, at)) submit([{ bucket, isRenewal: true }], () => {})
        }
        return usages
      }
      const count = <const B extends ReadonlyArray<Bucket>>(buckets: B) =>
        Effect.suspend(() => {
          const usages = spend(buckets)
          return usages === undefined ? counted(buckets) as Effect.Effect<Usages<B>> : Effect.succeed(usages)
        })
      return RateLimit.of({ spend, count })
    })
  )
}

/** Counts a request in its bucket and refuses it with 429 above the limit. */
export const limitPerMinute = Effect.fnUntraced(
  function*(limits: RateLimit["Service"], bucket: Bucket) {
    const { limit } = bucket
    const [{ secondsLeft, used }] = yield* limits.count([bucket])
    if (used <= limit) return
    const { answerHeaders } = yield* RequestContext
    answerHeaders.set("retry-after", String(secondsLeft))
    return yield* new RateLimitExceeded({ limit, retry_after: secondsLeft })
  }
)

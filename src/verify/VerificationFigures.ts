import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { askedPeriod } from "../messages/askedPeriod.ts"
import * as Query from "../platform/database/Query.ts"
import type { ValidationFailed } from "../platform/http/ApiErrors.ts"
import { dollars } from "../pricing/SmsPrice.ts"
import { AccountId } from "../values/Ids.ts"
import { CodeChannel, type Figures, type VerificationStatistics } from "./Verification.ts"

const spans = { usual: "7 days", most: "31 days" } as const

const Row = Schema.Struct({
  /** Null in the row of all. */
  channel: Schema.NullOr(CodeChannel),
  country: Schema.NullOr(Schema.String),
  verifications: Schema.Int,
  codes_sent: Schema.Int,
  pending: Schema.Int,
  confirmed: Schema.Int,
  expired: Schema.Int,
  max_attempts: Schema.Int,
  wrong_codes: Schema.Int,
  cost_micros: Schema.Int,
  median_seconds: Schema.NullOr(Schema.Finite)
})

const makeRead = Effect.map(SqlClient.SqlClient, (sql) =>
  Query.findAll({
    // Milliseconds since 1970: as texts, times at the ends of the calendar have forms that PostgreSQL refuses.
    Request: Schema.Struct({ accountId: AccountId, from: Schema.Int, to: Schema.Int }),
    Result: Row,
    // The index of the list finds the rows, and retention bounds them. The row of all is the first.
    execute: ({ accountId, from, to }) =>
      sql`select channel, country, count(*) as verifications, coalesce(sum(sends), 0)::bigint as codes_sent,
          count(*) filter (where status = 'pending' and expires_at > now()) as pending,
          count(*) filter (where status = 'approved') as confirmed,
          count(*) filter (where status = 'expired' or status = 'pending' and expires_at <= now()) as expired,
          count(*) filter (where status = 'max_attempts') as max_attempts,
          coalesce(sum(attempts), 0)::bigint as wrong_codes,
          coalesce(sum(cost_micros), 0)::bigint as cost_micros,
          (percentile_cont(0.5) within group (order by extract(epoch from verified_at - created_at)))::float8
            as median_seconds
        from verifications
        where account_id = ${accountId} and created_at >= to_timestamp(${from}::float8 / 1000)
          and created_at < to_timestamp(${to}::float8 / 1000)
        group by grouping sets ((), (channel, country))
        order by channel is not null, verifications desc, channel, country`
  }))

const ratio = (part: number, whole: number) => whole === 0 ? null : part / whole

const figuresOf = ({ channel: _, cost_micros, country: __, ...counts }: typeof Row.Type): Figures => ({
  ...counts,
  conversion: ratio(counts.confirmed, counts.verifications - counts.pending),
  cost_usd: dollars(cost_micros),
  cost_per_confirmed_usd: counts.confirmed === 0 ? null : dollars(Math.round(cost_micros / counts.confirmed))
})

/** How many one-time codes were sent and confirmed, and what they cost. */
export class VerificationFigures extends Context.Service<VerificationFigures, {
  /** Of the verifications that began in a time. */
  readonly read: (
    accountId: AccountId,
    asked: { readonly from_date?: string | undefined; readonly to_date?: string | undefined }
  ) => Effect.Effect<VerificationStatistics, ValidationFailed>
}>()("messaging-service/verify/VerificationFigures") {
  static readonly layer = Layer.effect(
    VerificationFigures,
    Effect.map(makeRead, (rowsOf) =>
      VerificationFigures.of({
        read: Effect.fn("VerificationFigures.read")(function*(accountId, asked) {
          const rows = yield* rowsOf({ accountId, ...(yield* askedPeriod(asked, spans)) })
          const parts = rows.flatMap((row) => {
            const { channel, country } = row
            return channel === null ? [] : [{ channel, country, ...figuresOf(row) }]
          })
          const all = yield* Effect.orDie(Effect.fromOption(Option.fromUndefinedOr(rows[0])))
          return { total: figuresOf(all), by_country: parts }
        })
      }))
  )
}

import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../values/Ids.ts"
import { AppConfig } from "../config/AppConfig.ts"
import * as Query from "../database/Query.ts"
import { DailyVolumeExceeded } from "./ApiErrors.ts"
import { RequestContext } from "./RequestContext.ts"

const gigabyte = 1_000_000_000

/** Smaller requests are not counted: the quotas of the plan bound their number, and so their bytes. */
const leastBytes = 64 * 1024

/** Bounds how much an account may store in a day, because quotas count messages and not bytes. */
export class DailyVolume extends Context.Service<DailyVolume, {
  /** Counts a request by the size of its body, and refuses it above the day's limit. */
  readonly spend: (accountId: AccountId, bytes: number) => Effect.Effect<void, DailyVolumeExceeded>
}>()("messaging-service/platform/http/DailyVolume") {
  static readonly layer = Layer.effect(
    DailyVolume,
    Effect.gen(function*() {
      const { acceptedGbPerDay } = yield* AppConfig
      const sql = yield* SqlClient.SqlClient
      const limit = Math.round(acceptedGbPerDay * gigabyte)

      /** Nothing above the limit. */
      const add = Query.findOneOption({
        Request: Schema.Struct({ accountId: Schema.Int, bytes: Schema.Int }),
        Result: Schema.Struct({ bytes: Schema.Int }),
        execute: ({ accountId, bytes }) =>
          sql`insert into accepted_bytes as b (account_id, day, bytes)
            select ${accountId}::bigint, (now() at time zone 'UTC')::date, ${bytes}::bigint
            where ${bytes}::bigint <= ${limit}::bigint
            on conflict (account_id, day) do update set bytes = b.bytes + excluded.bytes
              where b.bytes + excluded.bytes <= ${limit}::bigint
            returning bytes`
      })

      const secondsLeft = Query.findOne({
        Request: Schema.Void,
        Result: Schema.Struct({ seconds: Schema.Int }),
        execute: () =>
          sql`select ceil(extract(epoch from date_trunc('day', now(), 'UTC') + interval '24 hours' - now()))::integer
            as seconds`
      })

      return DailyVolume.of({
        spend: Effect.fn("DailyVolume.spend")(function*(accountId, bytes) {
          if (bytes < leastBytes || Option.isSome(yield* add({ accountId, bytes }))) return
          const { seconds } = yield* secondsLeft()
          const { answerHeaders } = yield* RequestContext
          answerHeaders.set("retry-after", String(seconds))
          return yield* new DailyVolumeExceeded({ limit_bytes: limit, retry_after: seconds })
        })
      })
    })
  )
}

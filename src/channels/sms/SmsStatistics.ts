import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { MessageStatus } from "../../messages/Message.ts"
import * as Query from "../../platform/database/Query.ts"
import { AccountId } from "../../values/Ids.ts"
import { countryOf, StoredPhoneNumber } from "../../values/PhoneNumber.ts"
import { Timestamp } from "../../values/Timestamp.ts"
import { mostCounted, type SmsStatisticsReport } from "./SmsStatisticsReport.ts"

const Row = Schema.Struct({ recipient: StoredPhoneNumber, status: MessageStatus, created_at: Timestamp })

/** The newest first. */
const reportOf = (rows: ReadonlyArray<typeof Row.Type>): SmsStatisticsReport => {
  const countries = Map.groupBy(rows, ({ recipient }) => countryOf(recipient) ?? null)
  const of = ([country, texts]: readonly [string | null, ReadonlyArray<typeof Row.Type>]) => {
    const delivered = texts.filter(({ status }) => status === "delivered").length
    const failed = texts.filter(({ status }) => status === "failed").length
    const known = delivered + failed
    return {
      country,
      delivered,
      failed,
      pending: texts.length - known,
      delivery_rate: known === 0 ? null : delivered / known
    }
  }
  const byCount = [...countries].toSorted(([, one], [, other]) => other.length - one.length)
  return { messages: rows.length, since: rows.at(-1)?.created_at ?? null, by_country: byCount.map(of) }
}

/** How many texts were delivered, by the country of their recipients. */
export class SmsStatistics extends Context.Service<SmsStatistics, {
  readonly read: (accountId: AccountId) => Effect.Effect<SmsStatisticsReport>
}>()("messaging-service/channels/sms/SmsStatistics") {
  static readonly layer = Layer.effect(
    SmsStatistics,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const newest = Query.findAll({
        Request: AccountId,
        Result: Row,
        execute: (accountId) =>
          sql`select recipient, status, created_at from messages
            where account_id = ${accountId} and channel = 'sms' and direction = 'out' and status <> 'canceled'
            order by id desc limit ${sql.literal(String(mostCounted))}`
      })
      return SmsStatistics.of({
        read: Effect.fn("SmsStatistics.read")((accountId) => Effect.map(newest(accountId), reportOf))
      })
    })
  )
}

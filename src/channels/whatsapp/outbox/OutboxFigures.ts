import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { column } from "../../../platform/database/column.ts"
import * as Query from "../../../platform/database/Query.ts"
import { AccountId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { Timestamp } from "../../../values/Timestamp.ts"
import { SessionReason } from "../model/SessionState.ts"
import { historySize, type SendRate } from "./SendRate.ts"

/** A count reads a range of an index. It ends here, or at the highest limit if that is higher. */
const endOfCounts = 1_000

const SessionFigures = Schema.Struct({
  /** When the session got its status, and why it is not connected. */
  status_since: Timestamp,
  reason: Schema.NullOr(SessionReason),
  /** Messages that were written to WhatsApp, as the rate limits count them. */
  last_minute: Schema.Int,
  last_day: Schema.Int,
  /** Messages that wait for their turn. */
  queued: Schema.Int
})

/** What a session has sent lately, and what waits. */
export type SessionFigures = typeof SessionFigures.Type

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { whatsappPerDay: perDay, whatsappPerMinute: perMinute } = yield* AppConfig
  const limits: SendRate = { perDay, perMinute }
  const most = Math.max(historySize(limits), endOfCounts)

  const counted = (which: string) =>
    sql`(select count(*) from (
      select from whatsapp_outbox o where o.session_id = s.id and ${sql.literal(which)} limit ${most}
    ) as counted)`

  const figures = Query.findAll({
    Request: Schema.Struct({ accountId: AccountId, ids: Schema.Array(WhatsAppSessionId) }),
    Result: Schema.Struct({ id: WhatsAppSessionId, ...SessionFigures.fields }),
    execute: ({ accountId, ids }) =>
      sql`select s.id, s.status_since, s.reason,
          ${counted("o.written_at > now() - interval '1 minute'")} as last_minute,
          ${counted("o.written_at > now() - interval '1 day'")} as last_day,
          ${counted("o.status = 'queued'")} as queued
        from whatsapp_sessions s where s.account_id = ${accountId} and s.id = any(${column.int8(ids)})`
  })

  return {
    limits,
    most,
    ofEach: Effect.fn("OutboxFigures.ofEach")((accountId: AccountId, ids: ReadonlyArray<WhatsAppSessionId>) =>
      Effect.map(figures({ accountId, ids }), (rows) => new Map(rows.map(({ id, ...row }) => [id, row])))
    )
  }
})

/** The sending of sessions in numbers. */
export class OutboxFigures extends Context.Service<OutboxFigures, {
  /** How many messages a session may send. 0 means no limit. */
  readonly limits: SendRate
  /** Each count ends here: of a longer queue, and of more messages without a limit, nothing more is known. */
  readonly most: number
  /** The figures of these sessions of the account, by one statement. */
  readonly ofEach: (
    accountId: AccountId,
    ids: ReadonlyArray<WhatsAppSessionId>
  ) => Effect.Effect<ReadonlyMap<WhatsAppSessionId, SessionFigures>>
}>()("messaging-service/channels/whatsapp/outbox/OutboxFigures") {
  static readonly layer = Layer.effect(OutboxFigures, make)
}

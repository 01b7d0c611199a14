import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { column } from "../../../platform/database/column.ts"
import * as Query from "../../../platform/database/Query.ts"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import { AccountId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { type LimitedFigures, SessionFigures } from "../model/Session.ts"
import { historySize, type SendRate } from "./SendRate.ts"

/** A count reads a range of an index. It ends here, or at the highest limit if that is higher. */
const endOfCounts = 1_000

const orNone = (limit: number) => limit === 0 ? null : limit

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
        from whatsapp_sessions s where s.account_id = ${accountId} and s.id = any(${column.int8(ids)})
          and s.is_confirmed and s.desired <> 'removed'`
  })

  const find = Effect.fn("OutboxFigures.find")(function*(
    { accountId, id }: { readonly accountId: AccountId; readonly id: WhatsAppSessionId }
  ) {
    const [row] = yield* figures({ accountId, ids: [id] })
    if (row === undefined) return yield* new NotFound()
    const { id: _, ...counted } = row
    return { ...counted, limit_per_minute: orNone(perMinute), limit_per_day: orNone(perDay), counted_up_to: most }
  })

  return {
    limits,
    most,
    find,
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
  /** The figures of a session with its limits. */
  readonly find: (
    which: { readonly accountId: AccountId; readonly id: WhatsAppSessionId }
  ) => Effect.Effect<LimitedFigures, NotFound>
  /** The figures of these sessions of the account, by one statement. */
  readonly ofEach: (
    accountId: AccountId,
    ids: ReadonlyArray<WhatsAppSessionId>
  ) => Effect.Effect<ReadonlyMap<WhatsAppSessionId, SessionFigures>>
}>()("messaging-service/channels/whatsapp/outbox/OutboxFigures") {
  static readonly layer = Layer.effect(OutboxFigures, make)
}

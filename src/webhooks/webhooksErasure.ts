import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { ErasureStep } from "../accounts/Erasure.ts"
import { AccountId, WebhookId } from "../values/Ids.ts"
import { queueStatuses } from "./delivery/DeliveryState.ts"

/** Deliveries of a removed webhook that one statement deletes. */
const most = 1_000

/** Rows of events that one statement looks at: they have no index of their account. */
const stride = 20_000

/** Deletes some of the history of a removed webhook and what waits for it, the newest first; says how many rows. */
export const eraseDeliveries = Effect.fnUntraced(function*(id: WebhookId) {
  const sql = yield* SqlClient.SqlClient
  const waiting = queueStatuses.map((place) =>
    sql`(select ctid from webhook_queue where webhook_id = ${id} and status = ${
      sql.literal(`'${place}'`)
    } limit ${most})`
  )
  const queued = yield* sql`delete from webhook_queue where ctid = any(array(${
    sql.join(" union all ", false)(waiting)
  }))
    returning 1`
  const gone = yield* sql`delete from webhook_deliveries where webhook_id = ${id} and id >= (
      select min(id) from (
        select id from webhook_deliveries where webhook_id = ${id} order by id desc limit ${most}) as last)
    returning 1`
  return queued.length + gone.length
})

const eraseWebhooks: ErasureStep["some"] = Effect.fnUntraced(function*(accountId) {
  const sql = yield* SqlClient.SqlClient
  const gone = yield* sql`with gone as (
      delete from webhooks where account_id = ${accountId} returning id
    ), remains as (
      insert into removed_webhooks (webhook_id, account_id) select id, ${accountId}::bigint from gone
    )
    select id from gone`
  return gone.length
}, Effect.orDie)

const eraseHistory: ErasureStep["some"] = Effect.fnUntraced(function*(accountId) {
  const sql = yield* SqlClient.SqlClient
  const removed = SqlSchema.findAll({
    Request: AccountId,
    Result: Schema.Struct({ webhook_id: WebhookId }),
    execute: (id) => sql`select webhook_id from removed_webhooks where account_id = ${id}`
  })
  for (const { webhook_id } of yield* removed(accountId)) {
    const erased = yield* eraseDeliveries(webhook_id)
    if (erased > 0) return erased
  }
  // An attempt that was under way may have left one more row until now.
  const forgotten = yield* sql`delete from removed_webhooks
    where account_id = ${accountId} and removed_at < now() - interval '10 minutes' returning 1`
  return forgotten.length
}, Effect.orDie)

/** Walks once through all events in the order of their ids, a stride at a time. */
const eraseEvents: ErasureStep["some"] = Effect.fnUntraced(function*(accountId) {
  const sql = yield* SqlClient.SqlClient
  const next = SqlSchema.findOne({
    Request: Schema.String,
    Result: Schema.Struct({ erased: Schema.Int, last: Schema.NullOr(Schema.String) }),
    execute: (after) =>
      sql`with walked as (
          select id, account_id from events where id > ${after} order by id limit ${stride}
        ), gone as (
          delete from events where id in (select id from walked where account_id = ${accountId}) returning 1
        )
        select (select count(*) from gone) as erased, (select max(id) from walked) as last`
  })
  let erased = 0
  let last: string | null = ""
  while (last !== null) {
    const step: { readonly erased: number; readonly last: string | null } = yield* next(last)
    erased += step.erased
    last = step.last
  }
  return erased
}, Effect.orDie)

/** Webhooks with their secrets, what waits for them, their history, and then the events. */
export const webhooksErasure: ReadonlyArray<ErasureStep> = [
  { name: "webhooks", atOnce: (accountId) => Effect.asVoid(eraseWebhooks(accountId)), some: eraseWebhooks },
  { name: "webhook deliveries", some: eraseHistory },
  { name: "events", some: eraseEvents }
]

import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { ErasureStep } from "../accounts/Erasure.ts"
import * as Query from "../platform/database/Query.ts"
import { AccountId, WebhookId } from "../values/Ids.ts"
import { queueStatuses } from "./delivery/DeliveryState.ts"

/** The most deliveries of a removed webhook that one statement deletes. */
const maxDeliveries = 1_000

/** How many events one statement scans: they have no index on their account. */
const scanSize = 20_000

/** Deletes some deliveries of a removed webhook, the newest first; returns how many. */
export const eraseDeliveries = Effect.fnUntraced(function*(id: WebhookId) {
  const sql = yield* SqlClient.SqlClient
  const waiting = queueStatuses.map((place) =>
    sql`(select ctid from webhook_queue where webhook_id = ${id} and status = ${
      sql.literal(`'${place}'`)
    } limit ${maxDeliveries})`
  )
  const queued = yield* Query.rowCount(
    sql`delete from webhook_queue where ctid = any(array(${sql.join(" union all ", false)(waiting)}))
    returning 1`
  )
  const ended = yield* Query.rowCount(sql`delete from webhook_deliveries where webhook_id = ${id} and id >= (
      select min(id) from (
        select id from webhook_deliveries where webhook_id = ${id} order by id desc limit ${maxDeliveries}) as last)
    returning 1`)
  return queued + ended
})

const eraseWebhooks: ErasureStep["some"] = Effect.fnUntraced(function*(accountId) {
  const sql = yield* SqlClient.SqlClient
  return yield* Query.rowCount(sql`with gone as (
      delete from webhooks where account_id = ${accountId} returning id
    ), remains as (
      insert into removed_webhooks (webhook_id, account_id) select id, ${accountId}::bigint from gone
    )
    select id from gone`)
})

const eraseHistory: ErasureStep["some"] = Effect.fnUntraced(function*(accountId) {
  const sql = yield* SqlClient.SqlClient
  const removed = Query.findAll({
    Request: AccountId,
    Result: Schema.Struct({ webhook_id: WebhookId }),
    execute: (id) => sql`select webhook_id from removed_webhooks where account_id = ${id}`
  })
  for (const { webhook_id } of yield* removed(accountId)) {
    const erased = yield* eraseDeliveries(webhook_id)
    if (erased > 0) return erased
  }
  // An attempt that was in flight may have left one more row until now.
  return yield* Query.rowCount(sql`delete from removed_webhooks
    where account_id = ${accountId} and removed_at < now() - interval '10 minutes' returning 1`)
})

/** Scans all events once in the order of their ids. */
const eraseEvents: ErasureStep["some"] = Effect.fnUntraced(function*(accountId) {
  const sql = yield* SqlClient.SqlClient
  const next = Query.findOne({
    Request: Schema.String,
    Result: Schema.Struct({ erased: Schema.Int, last: Schema.NullOr(Schema.String) }),
    execute: (after) =>
      sql`with scanned as (
          select id, account_id from events where id > ${after} order by id limit ${scanSize}
        ), gone as (
          delete from events where id in (select id from scanned where account_id = ${accountId}) returning 1
        )
        select (select count(*) from gone) as erased, (select max(id) from scanned) as last`
  })
  let erased = 0
  let last: string | null = ""
  while (last !== null) {
    const step: { readonly erased: number; readonly last: string | null } = yield* next(last)
    erased += step.erased
    last = step.last
  }
  return erased
})

/** Erases the webhooks with their secrets, their deliveries, and then the events. */
export const webhooksErasure: ReadonlyArray<ErasureStep> = [
  { name: "webhooks", atOnce: (accountId) => Effect.asVoid(eraseWebhooks(accountId)), some: eraseWebhooks },
  { name: "webhook deliveries", some: eraseHistory },
  { name: "events", some: eraseEvents }
]

import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ulid } from "../../src/platform/crypto/ids.ts"
import { column } from "../../src/platform/database/column.ts"

/**
 * Events that a webhook has missed, oldest first: their deliveries failed or, every second one, were skipped. They are a
 * second apart and end a minute ago. Returns their ids.
 */
export const missedEvents = Effect.fnUntraced(function*(
  { accountId, count, webhookId }: { readonly accountId: number; readonly webhookId: number; readonly count: number }
) {
  const sql = yield* SqlClient.SqlClient
  const tails = yield* Effect.replicateEffect(ulid, count)
  const rows = yield* sql`with given as (
      select place, now() - make_interval(secs => ${60 + count}::integer - place) as at, substr(tail, 11) as tail
      from unnest(${column.text(tails)}) with ordinality as t (tail, place)
    ), named as materialized (
      select place, at, 'evt_' || ulid_time(at) || tail as id, nextval('webhook_delivery_ids') as delivery
      from given order by place
    ), stored as (
      insert into events (id, account_id, webhook_ids, delivery_ids, name, body)
      select id, ${accountId}, array[${webhookId}::bigint], array[delivery], 'email.bulk_completed',
        convert_to(json_build_object('id', id, 'event', 'email.bulk_completed', 'timestamp', at, 'data', '{}'::json)::text,
          'utf8')
      from named
    ), missed as (
      insert into webhook_deliveries (webhook_id, id, event_id, event, status, attempt_count, error, created_at)
      select ${webhookId}, delivery, id, 'email.bulk_completed',
        case when place % 2 = 0 then 'skipped' else 'failed' end, case when place % 2 = 0 then 0 else 4 end,
        'webhook_unhealthy', at
      from named order by place
    )
    select id from named order by place`
  return rows.map(({ id }) => String(id))
})

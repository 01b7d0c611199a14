import type { SqlClient, Statement } from "effect/sql"

/**
 * The deliveries of events, as the CTE `found` with their webhooks: `first` selects the two ids of those that the events name,
 * and a delivery that was repeated leads to the next one. `ended` bounds the times at which repeated ones have ended, because each
 * day has a partition.
 */
export const deliveriesFound = (sql: SqlClient.SqlClient, first: Statement.Fragment, ended: Statement.Fragment) =>
  sql`recursive found (webhook_id, id) as (
      ${first}
      union select d.webhook_id, d.requeued_as
        from found f join webhook_deliveries d on d.webhook_id = f.webhook_id and d.id = f.id
        where d.requeued_as is not null and ${ended}
    )`

/** The ids of a webhook's deliveries of one event, as an array. */
export const deliveriesOf = (sql: SqlClient.SqlClient, eventId: string, webhookId: number) =>
  sql`array(with ${
    deliveriesFound(
      sql,
      sql`select w.* from events e, unnest(e.webhook_ids, e.delivery_ids) w (webhook_id, id)
        where e.id = ${eventId} and w.webhook_id = ${webhookId}`,
      sql`true`
    )
  } select id from found)`

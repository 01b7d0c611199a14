import type { SqlClient, Statement } from "effect/sql"

/**
 * A CTE `found` with the deliveries of events and their webhooks. `first` selects those that the events name: webhook, then
 * delivery. Each delivery that was repeated leads to the one that repeats it, if it ended within `ended`, a condition on
 * `d.completed_at`: each day has a partition.
 */
export const deliveriesFound = (sql: SqlClient.SqlClient, first: Statement.Fragment, ended: Statement.Fragment) =>
  sql`recursive found (webhook_id, id) as (
      ${first}
      union select d.webhook_id, d.requeued_as
        from found f join webhook_deliveries d on d.webhook_id = f.webhook_id and d.id = f.id
        where d.requeued_as is not null and ${ended}
    )`

/** The ids of a webhook's deliveries of events, as an array. `which` selects the events `e`. */
export const deliveriesOf = (sql: SqlClient.SqlClient, which: Statement.Fragment, webhookId: number) =>
  sql`array(with ${
    deliveriesFound(
      sql,
      sql`select w.* from events e, unnest(e.webhook_ids, e.delivery_ids) w (webhook_id, id)
        where ${which} and w.webhook_id = ${webhookId}`,
      sql`true`
    )
  } select id from found)`

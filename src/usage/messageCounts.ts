import type { SqlClient, Statement } from "effect/sql"

/**
 * Counts stored messages by account, day (UTC) and metric: rows `account_id, day, metric, count, cost`. This is the only
 * statement that joins the tables of channels. Recipients that the request itself
 * suppressed were never reserved, and canceled messages gave back what they had used. `which` limits the rows of a
 * table, of which `at` is the time that counts.
 */
export const messageCounts = (
  sql: SqlClient.SqlClient,
  which: (table: "email_messages" | "messages", at: "created_at" | "sent_at") => Statement.Fragment
): Statement.Fragment =>
  sql`select account_id, (created_at at time zone 'UTC')::date as day, 'email' as metric, count(*) as count, 0 as cost
    from email_messages where not (status = 'suppressed' and completed_at = created_at) and status <> 'canceled'
      and ${which("email_messages", "created_at")}
    group by 1, 2
    union all
    select account_id, (sent_at at time zone 'UTC')::date, 'email_sent', count(*), 0
    from email_messages where sent_at is not null and ${which("email_messages", "sent_at")} group by 1, 2
    union all
    select account_id, (created_at at time zone 'UTC')::date, channel, count(*), 0
    from messages where direction = 'out' and status <> 'canceled' and ${
    which("messages", "created_at")
  } group by 1, 2, 3
    union all
    select account_id, (created_at at time zone 'UTC')::date, 'sms_segments', sum(segments), sum(cost_micros)
    from messages where channel = 'sms' and direction = 'out' and status <> 'canceled' and ${
    which("messages", "created_at")
  } group by 1, 2`

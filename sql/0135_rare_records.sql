-- The emails of a status that few have, in the order of their records: a list of them reads no other row. The record of an email
-- to several addresses is its first row.
create index email_messages_rare_records on email_messages (account_id, status, coalesce(part_of, id) desc)
  where status in ('bounced', 'complained', 'failed', 'suppressed', 'canceled');
drop index email_messages_rare;

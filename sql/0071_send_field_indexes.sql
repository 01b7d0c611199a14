-- Checked apart from the change, so that nodes write meanwhile.
alter table email_messages validate constraint email_messages_status_check;
alter table messages validate constraint messages_status_check;
alter table email_batches validate constraint email_batches_status_check;
alter table message_batches validate constraint message_batches_status_check;
alter table whatsapp_outbox validate constraint whatsapp_outbox_status_check;

-- Scheduled messages in the order of their times, and those of each account, so that accounts take turns.
create index email_messages_scheduled on email_messages (send_at, id) where status = 'scheduled' and batch_id is null;
create index email_messages_scheduled_turns on email_messages (account_id, send_at, id)
  where status = 'scheduled' and batch_id is null;
create index messages_scheduled on messages (channel, send_at, id) where status = 'scheduled';
create index messages_scheduled_turns on messages (channel, account_id, send_at, id) where status = 'scheduled';
create index email_batches_scheduled on email_batches (send_at, id) where status = 'scheduled';

-- The nodes look for batches with work. A scheduled batch has none before its time.
create index email_batches_open on email_batches (account_id, created_at)
  where completed_at is null and status <> 'scheduled';
drop index email_batches_waiting;

-- The tags of an account's messages as one set of keys: an index for containment has no second column without an
-- extension, and a tag that many accounts use must not make a list of one of them slow.
create function account_tags(account bigint, tags text[]) returns text[] language sql immutable parallel safe as
  $$ select coalesce(array_agg(account::text || ':' || tag), '{}') from unnest(tags) as tag $$;
create index email_messages_tags on email_messages using gin (account_tags(account_id, tags)) where tags <> '{}';
create index messages_tags on messages using gin (account_tags(account_id, tags)) where tags <> '{}';

-- Tags and metadata that a request gives its messages, and the moment at which a scheduled message is due. The mails of a
-- batch and the copies of a mail repeat them, so that lists, events and filters read one row.
alter table email_messages
  add column tags text[] not null default '{}',
  add column metadata jsonb not null default '{}',
  add column send_at timestamptz,
  -- The message with several steps that this one is a step of.
  add column failover_id text,
  drop constraint email_messages_status_check,
  add constraint email_messages_status_check check (status in ('scheduled', 'queued', 'sending', 'sent', 'delivered',
    'opened', 'clicked', 'bounced', 'complained', 'failed', 'suppressed', 'canceled')) not valid;

alter table messages
  add column tags text[] not null default '{}',
  add column metadata jsonb not null default '{}',
  add column send_at timestamptz,
  add column failover_id text,
  drop constraint messages_status_check,
  add constraint messages_status_check check (status in ('scheduled', 'queued', 'sending', 'sent', 'delivered', 'read',
    'failed', 'received', 'canceled')) not valid;

alter table email_batches
  add column tags text[] not null default '{}',
  add column metadata jsonb not null default '{}',
  add column send_at timestamptz,
  -- Further header fields of its mails, by name.
  add column headers jsonb,
  drop constraint email_batches_status_check,
  add constraint email_batches_status_check check (status in ('scheduled', 'queued', 'processing', 'completed', 'failed',
    'canceled')) not valid;

alter table message_batches
  add column tags text[] not null default '{}',
  add column metadata jsonb not null default '{}',
  add column send_at timestamptz,
  drop constraint message_batches_status_check,
  add constraint message_batches_status_check check (status in ('scheduled', 'queued', 'processing', 'completed', 'failed',
    'canceled')) not valid;

alter table email_contents add column headers jsonb;

-- A scheduled message has no due part: its parts have no due_at. In the outbox it has a status of its own, because the
-- sender of a session reads queued messages in the order of their ids.
alter table whatsapp_outbox
  drop constraint whatsapp_outbox_status_check,
  add constraint whatsapp_outbox_status_check check (status in ('scheduled', 'queued', 'written', 'sent', 'delivered', 'read',
    'failed')) not valid;

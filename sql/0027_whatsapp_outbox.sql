-- What WhatsApp messages are sent as. whatsapp_id: their name at WhatsApp, chosen before the first attempt and kept over
-- all of them, so that a phone shows a message once however often it arrives. written: it went, or was about to go, into
-- a connection, and no acknowledgement is written down yet. body: the serialised message, kept for phones that ask for it
-- again, a day long. lane 0 is for messages of their own, 1 for batches, with their pause (delay_ms).
create table whatsapp_files (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts (id) on delete cascade,
  content bytea not null,
  created_at timestamptz not null default now()
);

create index whatsapp_files_account on whatsapp_files (account_id);
create index whatsapp_files_age on whatsapp_files (created_at);

create table whatsapp_outbox (
  message_id bigint primary key references messages (id) on delete cascade,
  session_id bigint not null,
  whatsapp_id text not null,
  lane smallint not null,
  delay_ms integer not null default 0,
  file_id bigint references whatsapp_files (id) on delete set null,
  status text not null default 'queued'
    check (status in ('queued', 'written', 'sent', 'delivered', 'read', 'failed')),
  attempt_count smallint not null default 0,
  due_at timestamptz not null default now(),
  chat text,
  body bytea,
  written_at timestamptz,
  unique (session_id, whatsapp_id)
) with (fillfactor = 80);

create index whatsapp_outbox_queued on whatsapp_outbox (session_id, lane, message_id) where status = 'queued';
create index whatsapp_outbox_written on whatsapp_outbox (session_id, message_id) where status = 'written';
create index whatsapp_outbox_pace on whatsapp_outbox (session_id, written_at) where written_at is not null;
create index whatsapp_outbox_bodies on whatsapp_outbox (written_at) where body is not null;
create index whatsapp_outbox_files on whatsapp_outbox (file_id) where file_id is not null;

-- How many messages a session has sent. Apart from its row, which whoever writes its keys holds.
create table whatsapp_message_counts (
  session_id bigint primary key references whatsapp_sessions (id) on delete cascade,
  messages_count bigint not null
) with (fillfactor = 50);

alter table whatsapp_sessions drop column messages_count;

-- WhatsApp sessions (spec 2.3, 3.1). desired: on (shall have a connection), off (rests until somebody asks), removed (on
-- its way out). epoch: raised by each new owner; who writes with another one has lost the session. is_confirmed: the
-- request that asked for the session was answered; who died before leaves a row that is removed. failures: connections
-- in a row that came to nothing. retry_at: when a session that has failed tries its credentials once more.
create table whatsapp_sessions (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts (id) on delete cascade,
  session_key text not null unique,
  name text not null,
  status text not null default 'pending' check (status in ('pending', 'connected', 'disconnected', 'failed')),
  desired text not null default 'on' check (desired in ('on', 'off', 'removed')),
  is_confirmed boolean not null default false,
  is_paired boolean not null default false,
  is_replaced boolean not null default false,
  phone_number text,
  reason text,
  failures integer not null default 0,
  retry_at timestamptz,
  epoch bigint not null default 0,
  data_key bytea not null,
  messages_count bigint not null default 0,
  connected_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
) with (fillfactor = 80);

create index whatsapp_sessions_account on whatsapp_sessions (account_id, id desc);
create index whatsapp_sessions_retry on whatsapp_sessions (retry_at) where retry_at is not null;

-- Credentials and keys of a session, each value encrypted under its data key and bound to its place. A paired session
-- has about 900 of them, most of which never change; those of contacts change with every message.
create table whatsapp_keys (
  session_id bigint not null references whatsapp_sessions (id) on delete cascade,
  type text not null,
  key text not null,
  value bytea not null,
  primary key (session_id, type, key)
) with (fillfactor = 80);

-- Sending domains. dkim_private_key is encrypted; only a verified domain may stand in From.
create table email_domains (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts (id) on delete cascade,
  domain text not null,
  status text not null default 'pending' check (status in ('pending', 'verified')),
  dkim_private_key bytea,
  dkim_public_key text,
  created_at timestamptz not null default now(),
  unique (account_id, domain)
);

create unique index email_domains_verified on email_domains (domain) where status = 'verified';

create table email_batches (
  id text primary key,
  account_id bigint not null references accounts (id) on delete cascade,
  status text not null default 'queued' check (status in ('queued', 'processing', 'completed', 'failed', 'canceled')),
  from_address text not null,
  from_name text,
  subject text not null,
  html text not null,
  text text,
  total integer not null,
  sent integer not null default 0,
  failed integer not null default 0,
  suppressed integer not null default 0,
  canceled integer not null default 0,
  ambiguous integer not null default 0,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz,
  check (sent + failed + suppressed + canceled <= total)
);

create index email_batches_open on email_batches (created_at) where completed_at is null;
create index email_batches_account on email_batches (account_id, created_at desc);

-- One row per recipient. attempt_count counts finished attempts; a row in 'sending' belongs to its batch's actor.
create table email_messages (
  id bigint generated always as identity primary key,
  account_id bigint not null,
  batch_id text,
  position integer,
  recipient text not null,
  variables jsonb not null default '{}',
  status text not null default 'queued'
    check (status in ('queued', 'sending', 'sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained', 'failed', 'suppressed', 'canceled')),
  attempt_count smallint not null default 0,
  due_at timestamptz,
  bounce_type text check (bounce_type in ('hard', 'soft')),
  error text,
  sent_at timestamptz,
  completed_at timestamptz,
  created_at timestamptz not null default now()
) with (fillfactor = 80);

create unique index email_messages_batch on email_messages (batch_id, position) where batch_id is not null;
create index email_messages_due on email_messages (batch_id, due_at, id) where status = 'queued';
create index email_messages_sending on email_messages (batch_id) where status = 'sending';
create index email_messages_account on email_messages (account_id, id desc);

-- Addresses that an account must not write to again (RFC 8058 unsubscribe, hard bounces).
create table suppressions (
  account_id bigint not null references accounts (id) on delete cascade,
  email text not null,
  reason text not null check (reason in ('unsubscribe', 'bounce', 'complaint', 'manual')),
  source_message_id bigint,
  created_at timestamptz not null default now(),
  primary key (account_id, email)
);

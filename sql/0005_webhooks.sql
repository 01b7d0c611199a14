create table webhooks (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts (id) on delete cascade,
  url text not null,
  events text[] not null,
  secret bytea not null,
  secret_prefix text not null,
  is_active boolean not null default true,
  failure_count integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index webhooks_account on webhooks (account_id, id desc);

-- status: pending (due at due_at), taken (in the hands of its webhook's actor), retrying (failed before, due at due_at),
-- delivered, failed, skipped. No foreign keys on the hot path: the webhook's removal deletes them.
create table webhook_deliveries (
  id bigint generated always as identity primary key,
  webhook_id bigint not null,
  account_id bigint not null,
  event_id text not null,
  event text not null,
  status text not null default 'pending' check (status in ('pending', 'retrying', 'taken', 'delivered', 'failed', 'skipped')),
  attempt_count smallint not null default 0,
  due_at timestamptz default now(),
  response_code smallint,
  error text,
  duration_ms integer,
  is_test boolean not null default false,
  created_at timestamptz not null default now(),
  completed_at timestamptz
) with (fillfactor = 70);

create index webhook_deliveries_due on webhook_deliveries (webhook_id, due_at, id) where status in ('pending', 'retrying');
create index webhook_deliveries_taken on webhook_deliveries (webhook_id) where status = 'taken';
create index webhook_deliveries_history on webhook_deliveries (webhook_id, id desc);

create table webhook_attempts (
  delivery_id bigint not null,
  attempt smallint not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  response_code smallint,
  error text,
  response_body bytea,
  primary key (delivery_id, attempt)
);

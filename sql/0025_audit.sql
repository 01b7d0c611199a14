-- Who changed what about an account: written in the transaction of the change, kept for 400 days. actor: `key 5`,
-- `session` or `system`, which is the command line. target: what was changed, such as `webhook 7`. No secret is in data.
create table audit_entries (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts (id) on delete cascade,
  at timestamptz not null default now(),
  actor text not null,
  action text not null,
  target text,
  client_address text,
  data jsonb not null default '{}'
);

create index audit_entries_account on audit_entries (account_id, id desc);
create index audit_entries_at on audit_entries (at);

-- Tokens that set a new password, once and for an hour; as hashes.
create table password_resets (
  token_hash bytea primary key,
  account_id bigint not null references accounts (id) on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz
);

create index password_resets_account on password_resets (account_id);
create index password_resets_expires on password_resets (expires_at);

-- Accounts that were deleted and are being erased, until nothing is left of them. An account's own row goes last; until
-- then it has no name and no address.
create table account_erasures (
  account_id bigint primary key,
  requested_at timestamptz not null default now(),
  next_at timestamptz not null default now()
);

create index account_erasures_next on account_erasures (next_at);

alter table accounts add deleted_at timestamptz;

-- Whose they are, where their rows did not say it: an account that is deleted leaves nothing.
alter table idempotency_records add account_id bigint;
create index idempotency_records_account on idempotency_records (account_id);
alter table removed_webhooks add account_id bigint;
create index removed_webhooks_account on removed_webhooks (account_id);

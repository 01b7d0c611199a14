-- Answers of POSTs that carried an Idempotency-Key, encrypted, for 24 hours.
create table idempotency_records (
  scope text not null,
  key text not null,
  fingerprint bytea not null,
  status smallint not null,
  headers jsonb not null,
  body bytea not null,
  created_at timestamptz not null default now(),
  primary key (scope, key)
);

create index idempotency_records_age on idempotency_records (created_at);

-- One row per bucket and window. Losing them in a crash of the server only forgives one minute.
create unlogged table rate_windows (
  bucket text not null,
  starts_at timestamptz not null,
  used integer not null,
  primary key (bucket, starts_at)
) with (fillfactor = 50);

create index rate_windows_age on rate_windows (starts_at);

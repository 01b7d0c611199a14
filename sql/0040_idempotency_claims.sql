-- Requests with an Idempotency-Key that wait for something outside of the database. After a crash, a claim expires.
create table idempotency_claims (
  scope text not null,
  key text not null,
  holder uuid not null default gen_random_uuid(),
  expires_at timestamptz not null,
  primary key (scope, key)
);

-- An event that at least one webhook wants. The body is serialised once: these very bytes are signed and sent each time.
create table events (
  id text primary key,
  account_id bigint not null,
  name text not null,
  body bytea not null,
  created_at timestamptz not null default now()
);

create index events_account on events (account_id);

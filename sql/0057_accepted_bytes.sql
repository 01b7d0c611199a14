-- Bytes of large requests that an account has sent on a day (UTC).
create table accepted_bytes (
  account_id bigint not null references accounts (id) on delete cascade,
  day date not null,
  bytes bigint not null,
  primary key (account_id, day)
);

-- Accounts whose receiver in the sandbox answers 500 until this time. Without a row, or later, it answers 204.
create table sandbox_receivers (
  account_id bigint primary key,
  failing_until timestamptz not null
);

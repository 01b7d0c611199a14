-- How many messages of an account reached an outcome in an hour. The only source of numbers and graphs.
create table message_stats (
  account_id bigint not null references accounts (id) on delete cascade,
  hour timestamptz not null,
  channel text not null,
  outcome text not null,
  -- Why messages failed, such as the error code; else empty.
  reason text not null,
  count bigint not null,
  primary key (account_id, hour, channel, outcome, reason)
) with (fillfactor = 80);
create index message_stats_hour on message_stats (hour);

-- Counts that are not in message_stats yet. Writers of outcomes only add rows, in the transaction of what they count, so
-- that none of them waits for another one. A task moves the rows within seconds. Without a key and an index: it stays small.
create table message_stat_entries (
  account_id bigint not null,
  hour timestamptz not null,
  channel text not null,
  outcome text not null,
  reason text not null,
  count bigint not null
);

-- The shard of a batch's actor: each node polls for the batches of its own shards, account by account. Rows of older
-- versions have none. A small batch has few recipients and short texts: the node sends it without its actor.
alter table email_batches
  add column shard smallint,
  add column is_small boolean not null default false;
create index email_batches_waiting on email_batches (account_id, created_at) where completed_at is null;
drop index email_batches_open;

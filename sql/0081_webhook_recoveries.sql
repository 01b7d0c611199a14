-- A recovery queues the failed and skipped deliveries of a webhook again, in the order of their events. `position` is the
-- last event that it has queued, `ends_at` the first one behind it. `counted_to` is null once the total is exact.
create table webhook_recoveries (
  id bigint generated always as identity primary key,
  webhook_id bigint not null references webhooks (id) on delete cascade,
  since timestamptz not null,
  until timestamptz not null,
  statuses text[] not null,
  position text collate "C" not null,
  ends_at text collate "C" not null,
  counted_to text collate "C",
  total bigint not null default 0,
  queued bigint not null default 0,
  delivered bigint not null default 0,
  failed bigint not null default 0,
  is_queued boolean not null default false,
  is_canceled boolean not null default false,
  moved_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  completed_at timestamptz
);
create unique index webhook_recoveries_running on webhook_recoveries (webhook_id) where completed_at is null;
create index webhook_recoveries_list on webhook_recoveries (webhook_id, id desc);
create index webhook_recoveries_queueing on webhook_recoveries (webhook_id) where completed_at is null and not is_queued;
create index webhook_recoveries_completed on webhook_recoveries (completed_at) where completed_at is not null;

-- The recovery that queued a delivery, and the delivery that has replaced an ended one. An event of a webhook has one
-- recoverable row at most, unless its owner redelivered it twice.
alter table webhook_queue add column recovery_id bigint;
alter table webhook_deliveries add column requeued_as bigint;
create index webhook_deliveries_recoverable on webhook_deliveries (webhook_id, event_id) include (status)
  where status <> 'delivered' and requeued_as is null and not is_test;

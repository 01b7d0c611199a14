-- Deliveries that are not at their end yet wait in a queue that stays small; what has ended is history, in partitions by
-- day that are dropped whole. Events too: their ids begin with their time, so a partition is found by the id alone.

-- The first 10 characters of all ULIDs of one millisecond, which sort before those of the next.
create function ulid_time(at timestamptz) returns text language plpgsql immutable strict as $$
declare
  rest bigint := floor(extract(epoch from at) * 1000);
  characters text := '';
begin
  for position in 1..10 loop
    characters := substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (rest % 32)::integer + 1, 1) || characters;
    rest := rest / 32;
  end loop;
  return characters;
end $$;

alter table events rename to events_once;
alter index events_pkey rename to events_once_pkey;
alter table webhook_deliveries rename to webhook_deliveries_once;
alter table webhook_attempts rename to webhook_attempts_once;
alter index webhook_deliveries_history rename to webhook_deliveries_once_history;

-- An event that at least one webhook wants. The body is serialised once: these very bytes are signed and sent each time.
create table events (
  id text collate "C" primary key,
  account_id bigint not null,
  name text not null,
  body bytea not null,
  created_at timestamptz not null default now()
) partition by range (id);

create sequence webhook_delivery_ids;

-- status: pending (before its first attempt), retrying (due at due_at), taken (in the hands of its webhook's actor since
-- due_at). attempts: those that failed so far, the response bodies in base64. No keys: every row is in one of the three
-- indexes, and one more would cost each delivery.
create table webhook_queue (
  webhook_id bigint not null,
  id bigint not null default nextval('webhook_delivery_ids'),
  event_id text collate "C" not null,
  event text not null,
  status text not null check (status in ('pending', 'retrying', 'taken')),
  is_test boolean not null default false,
  attempt_count smallint not null default 0,
  attempts jsonb not null default '[]',
  due_at timestamptz not null default now(),
  created_at timestamptz not null default now()
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

create index webhook_queue_pending on webhook_queue (webhook_id, id) where status = 'pending';
create index webhook_queue_retrying on webhook_queue (webhook_id, due_at, id) where status = 'retrying';
create index webhook_queue_taken on webhook_queue (webhook_id, id) where status = 'taken';

-- What has ended; written once. The last attempt stands in the row, those before it in attempts. A skipped delivery
-- had its last attempt, if any, in attempts as well.
create table webhook_deliveries (
  webhook_id bigint not null,
  id bigint not null,
  event_id text collate "C" not null,
  event text not null,
  status text not null constraint webhook_deliveries_end check (status in ('delivered', 'failed', 'skipped')),
  is_test boolean not null default false,
  attempt_count smallint not null,
  attempts jsonb not null default '[]',
  started_at timestamptz,
  duration_ms integer,
  response_code smallint,
  error text,
  response_body bytea,
  retry_after text,
  created_at timestamptz not null,
  completed_at timestamptz not null default now()
) partition by range (completed_at);

create index webhook_deliveries_history on webhook_deliveries (webhook_id, id desc);

-- Who looks for what went wrong looks for few rows among many.
create index webhook_deliveries_unsuccessful on webhook_deliveries (webhook_id, id desc) where status <> 'delivered';

-- One partition a day (UTC) from first to last, where there is none yet. A table is made and then attached, which,
-- unlike "create table ... partition of", does not wait for those who are writing. A day is 24 hours: "1 day" would be 23
-- or 25 of them where the session's time zone changes its clocks.
create function make_day_partitions(first date, last date) returns void language plpgsql as $$
declare
  parent text;
  partition text;
  since timestamptz;
  until timestamptz;
begin
  perform pg_advisory_xact_lock(7236150419);
  for since in select day at time zone 'UTC' from generate_series(first::timestamp, last::timestamp, '1 day') as days (day) loop
    until := since + interval '24 hours';
    foreach parent in array array['events', 'webhook_deliveries'] loop
      partition := parent || to_char(since at time zone 'UTC', '_YYYYMMDD');
      continue when to_regclass(partition) is not null;
      execute format('create table %I (like %I including all)', partition, parent);
      if parent = 'events' then
        execute format('alter table events attach partition %I for values from (%L) to (%L)', partition,
          'evt_' || ulid_time(since), 'evt_' || ulid_time(until));
      else
        execute format('alter table webhook_deliveries attach partition %I for values from (%L) to (%L)', partition,
          since, until);
      end if;
    end loop;
  end loop;
end $$;

-- Drops the oldest partition whose day is before `before` and returns its name; null when there is none, or no `before`.
-- One a transaction. It fails with lock_not_available rather than let those who write wait for long: whoever comes while
-- it waits for the parent has to wait behind it.
create function drop_oldest_day_partition(parent regclass, before date) returns text language plpgsql as $$
declare
  partition text;
begin
  perform pg_advisory_xact_lock(7236150419);
  select c.oid::regclass into partition
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = parent and c.relname ~ '_[0-9]{8}$' and right(c.relname, 8) < to_char(before, 'YYYYMMDD')
    order by right(c.relname, 8) limit 1;
  if partition is not null then
    -- Nobody who writes waits behind this lock, and an autovacuum gives way to it, which takes deadlock_timeout.
    perform set_config('lock_timeout', '10s', true);
    execute format('lock table %s in share update exclusive mode', partition);
    perform set_config('lock_timeout', '500ms', true);
    execute format('drop table %s', partition);
  end if;
  return partition;
end $$;

-- All that is older than today, under the name of yesterday: it goes when that day's turn has come.
do $$
declare
  today timestamptz := date_trunc('day', now(), 'UTC');
  yesterday text := to_char(today at time zone 'UTC' - interval '1 day', '_YYYYMMDD');
begin
  execute format('create table %I partition of events for values from (minvalue) to (%L)',
    'events' || yesterday, 'evt_' || ulid_time(today));
  execute format('create table %I partition of webhook_deliveries for values from (minvalue) to (%L)',
    'webhook_deliveries' || yesterday, today);
  perform make_day_partitions((today at time zone 'UTC')::date, (today at time zone 'UTC')::date + 14);
end $$;

insert into events (id, account_id, name, body, created_at)
  select id, account_id, name, body, created_at from events_once;

insert into webhook_queue (webhook_id, id, event_id, event, status, is_test, attempt_count, attempts, due_at, created_at)
  select d.webhook_id, d.id, d.event_id, d.event, d.status, d.is_test, d.attempt_count, coalesce((
      select jsonb_agg(jsonb_build_object('attempt', a.attempt, 'started_at', a.started_at, 'duration_ms', a.duration_ms,
        'response_code', a.response_code, 'error', a.error, 'response_body', translate(encode(a.response_body, 'base64'), chr(10), ''), 'retry_after', null)
        order by a.attempt)
      from webhook_attempts_once a where a.delivery_id = d.id), '[]'), coalesce(d.due_at, now()), d.created_at
  from webhook_deliveries_once d where d.status in ('pending', 'retrying', 'taken');

insert into webhook_deliveries (webhook_id, id, event_id, event, status, is_test, attempt_count, attempts, started_at,
    duration_ms, response_code, error, response_body, created_at, completed_at)
  select d.webhook_id, d.id, d.event_id, d.event, d.status, d.is_test, d.attempt_count, coalesce((
      select jsonb_agg(jsonb_build_object('attempt', a.attempt, 'started_at', a.started_at, 'duration_ms', a.duration_ms,
        'response_code', a.response_code, 'error', a.error, 'response_body', translate(encode(a.response_body, 'base64'), chr(10), ''), 'retry_after', null)
        order by a.attempt)
      from webhook_attempts_once a where a.delivery_id = d.id and a.attempt < d.attempt_count), '[]'),
    l.started_at, d.duration_ms, d.response_code, d.error, l.response_body, d.created_at,
    coalesce(d.completed_at, d.created_at)
  from webhook_deliveries_once d
  left join webhook_attempts_once l on l.delivery_id = d.id and l.attempt = d.attempt_count
  where d.status in ('delivered', 'failed', 'skipped');

select setval('webhook_delivery_ids', coalesce(max(id), 0) + 1, false) from webhook_deliveries_once;

drop table webhook_attempts_once, webhook_deliveries_once, events_once;

-- unhealthy_reason: null is healthy; failing, gone (410 all the time) or backlog_full. failing_since: when the first
-- delivery after the last success had used up its attempts.
alter table webhooks
  add column failing_since timestamptz,
  add column unhealthy_reason text check (unhealthy_reason in ('failing', 'gone', 'backlog_full'));

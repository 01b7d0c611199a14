-- Each attempt to send a message: what the peer answered, and how long it took. Written with the outcome, never changed,
-- and dropped a day at a time. It has no key: the ids of a partition rise, so its one index stays small.
create table message_attempts (
  account_id bigint not null,
  channel text not null,
  -- The record that the API shows. An email to several addresses has one, and so has an SMS of several parts.
  message_id bigint not null,
  -- The part of an SMS.
  part smallint,
  -- The address of an email's copy.
  recipient text,
  at timestamptz not null default now(),
  attempt smallint not null,
  outcome text not null,
  duration_ms integer,
  peer text,
  reply text,
  next_at timestamptz,
  dialogue text
) partition by range (at);

create index message_attempts_message on message_attempts (message_id);

create or replace function make_day_partitions(first date, last date) returns void language plpgsql as $$
declare
  parent text;
  partition text;
  since timestamptz;
  until timestamptz;
begin
  perform pg_advisory_xact_lock(7236150419);
  for since in select day at time zone 'UTC' from generate_series(first::timestamp, last::timestamp, '1 day') as days (day) loop
    until := since + interval '24 hours';
    foreach parent in array array['events', 'webhook_deliveries', 'email_bodies', 'message_attempts'] loop
      partition := parent || to_char(since at time zone 'UTC', '_YYYYMMDD');
      continue when to_regclass(partition) is not null;
      execute format('create table %I (like %I including all)', partition, parent);
      if parent = 'events' then
        execute format('alter table events attach partition %I for values from (%L) to (%L)', partition,
          'evt_' || ulid_time(since), 'evt_' || ulid_time(until));
      elsif parent = 'email_bodies' then
        execute format('alter table email_bodies attach partition %I for values from (%L) to (%L)', partition,
          (since at time zone 'UTC')::date, (until at time zone 'UTC')::date);
      else
        execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, partition,
          since, until);
      end if;
    end loop;
  end loop;
end $$;

select make_day_partitions(today - 1, today + 14) from (values ((now() at time zone 'UTC')::date)) as t (today);

-- The message that an event is about, and the event of a delivery, so that a timeline finds them.
alter table events add column channel text, add column message_id bigint;
create index events_message on events (message_id) where message_id is not null;
create index webhook_deliveries_event on webhook_deliveries (event_id);
create index webhook_queue_event on webhook_queue (event_id);

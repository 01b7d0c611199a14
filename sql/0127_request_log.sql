-- What each request of an account did: all that change something, and all that were refused. Written by each node in groups, apart
-- from the request, and dropped a day at a time. The id is a UUID of version 7, so that it tells the day. No body is stored.
create table request_log (
  account_id bigint not null,
  id uuid not null,
  method text not null,
  -- Without its query.
  path text not null,
  -- The path of the endpoint, such as /v1/email/messages/:id.
  route text not null,
  status smallint not null,
  duration_ms integer not null,
  key_id bigint,
  key_prefix text,
  person_id bigint,
  ip text not null,
  -- The path of what the request has made.
  made text,
  -- type, code, message, param and errors of the answer.
  error jsonb,
  primary key (account_id, id)
) partition by range (id);

-- People look for the few that were refused.
create index request_log_refused on request_log (account_id, id) where status >= 400;

-- The first UUID of version 7 of an instant.
create function uuid_time(at timestamptz) returns uuid language sql immutable strict as $$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

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
    foreach parent in array array['events', 'webhook_deliveries', 'email_bodies', 'message_attempts', 'request_log'] loop
      partition := parent || to_char(since at time zone 'UTC', '_YYYYMMDD');
      continue when to_regclass(partition) is not null;
      execute format('create table %I (like %I including all)', partition, parent);
      if parent = 'events' then
        execute format('alter table events attach partition %I for values from (%L) to (%L)', partition,
          'evt_' || ulid_time(since), 'evt_' || ulid_time(until));
      elsif parent = 'email_bodies' then
        execute format('alter table email_bodies attach partition %I for values from (%L) to (%L)', partition,
          (since at time zone 'UTC')::date, (until at time zone 'UTC')::date);
      elsif parent = 'request_log' then
        execute format('alter table request_log attach partition %I for values from (%L) to (%L)', partition,
          uuid_time(since), uuid_time(until));
      else
        execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, partition,
          since, until);
      end if;
    end loop;
  end loop;
end $$;

select make_day_partitions(today - 1, today + 14) from (values ((now() at time zone 'UTC')::date)) as t (today);

-- Large texts and files of mail, each once for an account and a day, however many mails have it. They are needed until the
-- mail is sent; then their day is dropped.
create table email_bodies (
  day date not null,
  account_id bigint not null,
  hash bytea not null,
  content bytea not null,
  primary key (account_id, hash, day)
) partition by range (day);
alter table email_bodies alter column content set storage external;

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
    foreach parent in array array['events', 'webhook_deliveries', 'email_bodies'] loop
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
        execute format('alter table webhook_deliveries attach partition %I for values from (%L) to (%L)', partition,
          since, until);
      end if;
    end loop;
  end loop;
end $$;

select make_day_partitions(today - 1, today + 14) from (values ((now() at time zone 'UTC')::date)) as t (today);

-- A part has its content, or the day and hash of its body.
alter table email_parts
  alter column content drop not null,
  add column body_day date,
  add column body_hash bytea,
  add check (content is not null or body_hash is not null);

alter table email_batches
  add column body_day date,
  add column html_hash bytea,
  add column text_hash bytea;

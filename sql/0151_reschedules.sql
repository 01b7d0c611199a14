-- How often and when the time of a scheduled message was changed: its timeline tells each change.
alter table email_messages add column reschedules jsonb;
alter table email_batches add column reschedules jsonb;
alter table messages add column reschedules jsonb;
alter table message_batches add column reschedules jsonb;
alter table failovers add column reschedules jsonb;

-- The earlier changes and one more. Of many, the first and the newest 19 stay.
create function with_reschedule(earlier jsonb, send_at timestamptz, next timestamptz) returns jsonb language sql stable as $$
  select case when jsonb_array_length(coalesce(earlier, '[]')) < 20 then coalesce(earlier, '[]') else earlier - 1 end
    || jsonb_build_object(
      'at', to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      'from', to_char(send_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      'to', to_char(next at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
$$;

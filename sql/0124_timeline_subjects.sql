-- The message with failover or the verification that an event is about, so that its timeline finds the event.
alter table events add column subject text;
create index events_subject on events (subject) where subject is not null;

-- Who asked for the first code, and the messages that carried the codes, the oldest first: [{"channel", "id"}].
alter table verifications add column accepted_by jsonb;
alter table verifications add column messages jsonb not null default '[]';
update verifications set messages = jsonb_build_array(jsonb_build_object('channel', channel, 'id', message_id))
  where message_id is not null;

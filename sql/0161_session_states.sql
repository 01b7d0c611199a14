-- The states that each WhatsApp session had. A trigger writes them, so that nodes of the previous version do, too.
create table whatsapp_session_states (
  session_id bigint not null references whatsapp_sessions on delete cascade,
  since timestamptz not null default now(),
  status text not null,
  reason text
);
create index whatsapp_session_states_newest on whatsapp_session_states (session_id, since desc);
create index whatsapp_session_states_age on whatsapp_session_states (since);

create function note_session_state() returns trigger language plpgsql as $$
begin
  insert into whatsapp_session_states (session_id, status, reason) values (new.id, new.status, new.reason);
  return null;
end
$$;
create trigger session_state_began after insert on whatsapp_sessions for each row execute function note_session_state();
create trigger session_state_changed after update of status, reason on whatsapp_sessions
  for each row when (new.status is distinct from old.status or new.reason is distinct from old.reason)
  execute function note_session_state();

insert into whatsapp_session_states (session_id, since, status, reason)
  select id, status_since, status, reason from whatsapp_sessions;

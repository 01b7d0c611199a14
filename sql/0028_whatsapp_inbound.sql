-- What came in from WhatsApp, written before WhatsApp is told that it came. kind: a message, or news of a group's members.
-- chat: one name of each chat, the LID where it is known. payload: encrypted under the session's data key; it goes when it
-- was told of, but of a medium, whose keys are in it. done_at: when it was told of; the row stays, so that what comes again
-- is known.
create table whatsapp_inbox (
  id bigint generated always as identity primary key,
  session_id bigint not null references whatsapp_sessions (id) on delete cascade,
  kind text not null check (kind in ('message', 'group')),
  chat text not null,
  whatsapp_id text not null,
  author text,
  payload bytea,
  message_id bigint references messages (id) on delete cascade,
  received_at timestamptz not null default now(),
  done_at timestamptz,
  unique (session_id, chat, whatsapp_id)
) with (fillfactor = 80);

create index whatsapp_inbox_pending on whatsapp_inbox (session_id, id) where done_at is null;
create unique index whatsapp_inbox_message on whatsapp_inbox (message_id) where message_id is not null;

-- Whom a session knows. lid and phone are two names of one person; either may be unknown. is_named: the name is from the
-- phone's address book, and not what the person calls himself.
create table whatsapp_contacts (
  id bigint generated always as identity primary key,
  session_id bigint not null references whatsapp_sessions (id) on delete cascade,
  lid text,
  phone text,
  name text,
  is_named boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (lid is not null or phone is not null)
) with (fillfactor = 80);

create unique index whatsapp_contacts_lid on whatsapp_contacts (session_id, lid) where lid is not null;
create unique index whatsapp_contacts_phone on whatsapp_contacts (session_id, phone) where phone is not null;

-- Whether a number has WhatsApp, as the session was told.
create table whatsapp_number_checks (
  session_id bigint not null references whatsapp_sessions (id) on delete cascade,
  phone text not null,
  whatsapp_id text,
  checked_at timestamptz not null default now(),
  primary key (session_id, phone)
);

-- Groups of a session. known_at: when its members were last read from WhatsApp; null when they have to be read again.
create table whatsapp_groups (
  id bigint generated always as identity primary key,
  session_id bigint not null references whatsapp_sessions (id) on delete cascade,
  jid text not null,
  name text not null default '',
  description text,
  addressing text not null default 'lid' check (addressing in ('lid', 'pn')),
  ephemeral_seconds integer,
  invite_code text,
  is_member boolean not null default true,
  known_at timestamptz,
  created_at timestamptz not null default now(),
  unique (session_id, jid)
) with (fillfactor = 80);

-- jid: as WhatsApp names the member in this group.
create table whatsapp_group_participants (
  group_id bigint not null references whatsapp_groups (id) on delete cascade,
  jid text not null,
  phone text,
  role text not null check (role in ('member', 'admin', 'superadmin')),
  primary key (group_id, jid)
);

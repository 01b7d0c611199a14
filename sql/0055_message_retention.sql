-- How far the ids had come at a moment. Ids rise with time, so an age is a range of ids, which needs no further index.
create table retention_marks (
  at timestamptz primary key,
  email_messages bigint not null,
  messages bigint not null
);
-- Until now nothing was deleted. What is older than this migration counts as old as it.
insert into retention_marks (at, email_messages, messages)
  select now(), coalesce((select max(id) from email_messages), 0), coalesce((select max(id) from messages), 0);

-- The id up to which the texts of messages are erased: of a table, or of a table and an account.
create table retention_progress (
  name text primary key,
  id bigint not null
);

-- Days that are shorter than those of the settings.
alter table accounts
  add column message_retention_days smallint check (message_retention_days > 0),
  add column content_retention_days smallint check (content_retention_days > 0),
  -- The first day of which every message is kept, for recounts of usage.
  add column messages_since date not null default '-infinity';

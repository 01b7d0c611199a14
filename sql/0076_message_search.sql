-- What the search for messages reads: for each record the words of its recipients (weight A) and of its subject and text,
-- each after the account's id, so that the index holds the words of each account apart. A task adds records seconds after
-- their creation, because an index that changes with each status would slow every send.
create table message_search (
  account_id bigint not null,
  channel text not null,
  message_id bigint not null,
  words tsvector not null,
  primary key (account_id, channel, message_id)
);

-- A search reads the pending list from end to end, so it stays short.
create index message_search_words on message_search using gin (words) with (gin_pending_list_limit = 512);

-- The last id of each table that the task has added. The search starts with the messages that exist from now on and the
-- task works through the older ones.
create table message_search_progress (
  name text primary key,
  id bigint not null
);
insert into message_search_progress (name, id) values ('email_messages', 0), ('messages', 0);

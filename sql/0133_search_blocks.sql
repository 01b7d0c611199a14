-- A search reads the newest records that match. An index of words alone finds all of them first, so it was slow for frequent
-- words. Now the records of an account and channel form blocks, and the index holds the words of each block apart: the search
-- looks up one block after the other, the newest first, until its page is full. The task adds all records again.
truncate message_search;
update message_search_progress set id = 0;

create table message_search_blocks (
  account_id bigint not null,
  channel text not null,
  first_id bigint not null,
  last_id bigint not null,
  records integer not null,
  primary key (account_id, channel, first_id)
);

-- The first id of the record's block.
alter table message_search add column block bigint not null default 0;

-- The words as the index holds them. The first id of a block is unique among the channels of a table.
create function search_terms(channel text, block bigint, words tsvector) returns tsvector language sql immutable parallel safe as
  $$ select array_to_tsvector(array(select left(channel, 1) || block::text || ':' || lexeme from unnest(words))) $$;

-- A pending list would be read from end to end for each block.
drop index message_search_words;
create index message_search_terms on message_search using gin (search_terms(channel, block, words)) with (fastupdate = off);

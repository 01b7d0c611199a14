-- A search also selects by the domain of the sender and by the API key. The task adds all records again, with these.
truncate message_search, message_search_blocks;
update message_search_progress set id = 0;

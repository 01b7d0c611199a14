-- The task empties the list of pending entries after each group of records, so a look-up rarely reads any. The words of a whole
-- group then reach the index at once, each word once.
alter index message_search_terms set (fastupdate = on);

-- Finds received rows that became no message, which retention deletes. It also has the rows that are not done, which are few.
create index whatsapp_inbox_dropped on whatsapp_inbox (done_at) where message_id is null;

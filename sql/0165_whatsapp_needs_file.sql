-- Whether a message waits for its file to be uploaded. Rows of earlier versions say so whatever they contain.
alter table whatsapp_outbox add column needs_file boolean not null default true;

-- Each second, sessions with due messages look for files, however many texts wait.
create index whatsapp_outbox_uploads on whatsapp_outbox (session_id, lane, message_id) where status = 'queued' and needs_file;

-- The overview looks for codes that wait, however many other messages wait in their session.
create index whatsapp_outbox_codes on whatsapp_outbox (session_id, message_id) where status = 'queued' and code_seed is not null;

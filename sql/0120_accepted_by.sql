-- Who asked for a message: the id of the request, the visible part of its key and the client's address. A batch and a message
-- with steps have it for all of their messages. null for what the service itself sends.
alter table email_messages add column accepted_by jsonb;
alter table messages add column accepted_by jsonb;
alter table email_batches add column accepted_by jsonb;
alter table message_batches add column accepted_by jsonb;
alter table failovers add column accepted_by jsonb;

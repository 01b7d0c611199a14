-- The Message-ID of a single email stays as long as its record. Its content, which has it too, is deleted after a day.
alter table email_messages add column message_id text;

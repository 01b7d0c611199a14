-- Whose part it is, so that accounts take turns. Parts of older versions belong to account 0, as if they were of one
-- account. Parts with a code go first, then other single messages, then batches.
alter table sms_parts add column account_id bigint not null default 0;

create index sms_parts_codes on sms_parts (due_at, message_id, part_no) where status = 'queued' and code_seed is not null;
create index sms_parts_turns on sms_parts
  ((case when code_seed is not null then 0 else lane + 1 end), account_id, due_at, message_id, part_no)
  where status = 'queued';

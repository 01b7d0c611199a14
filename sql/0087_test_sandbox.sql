-- What the sandbox took from test accounts, which read it. Null: from a live account, or from outside.
alter table sandbox_mails add column account_id bigint;
create index sandbox_mails_account on sandbox_mails (account_id, id desc) where account_id is not null;
alter table sandbox_sms add column account_id bigint;
create index sandbox_sms_account on sandbox_sms (account_id, message_id desc) where account_id is not null;

-- What the sandbox's inbox searches and marks: a mail's words in lower case, its attachments, and when a person opened it.
alter table sandbox_mails add column search text not null default '';
alter table sandbox_mails add column attachment_count integer not null default 0;
alter table sandbox_mails add column read_at timestamptz;
create index sandbox_mails_lower_recipient on sandbox_mails (lower(recipient), id desc);
drop index sandbox_mails_recipient;

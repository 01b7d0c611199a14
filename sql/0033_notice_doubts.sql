-- How often the relay was silent after it had the whole mail, as of other emails: a second silence is the last.
alter table notices add column doubts smallint not null default 0;

-- How often the relay was silent after it had the whole message. It may have taken it each time, so a second silence is the
-- last. Recipients that a node left behind are not counted here, as most of them had not been begun.
alter table email_messages add column doubts smallint not null default 0;

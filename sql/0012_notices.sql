-- Mails of the service itself to the owner of an account. Written in the transaction of what they tell of, by
--   insert into notices (account_id, kind, once, subject, body) … on conflict do nothing
-- once: a second notice of the same account and kind with the same key is dropped while the first one waits, and for a
-- day after it was written; then the key is taken off the row. due_at: of queued ones. attempt_count counts the attempts
-- that were begun. message_id is chosen before the first attempt and stays.
create table notices (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts (id) on delete cascade,
  kind text not null,
  once text,
  subject text not null,
  body text not null,
  status text not null default 'queued' check (status in ('queued', 'sent', 'failed')),
  attempt_count smallint not null default 0,
  due_at timestamptz default now(),
  message_id text,
  error text,
  created_at timestamptz not null default now(),
  completed_at timestamptz
);

create unique index notices_once on notices (account_id, kind, once) where once is not null;
create index notices_due on notices (due_at) where status = 'queued';
create index notices_account on notices (account_id);
create index notices_completed on notices (completed_at) where completed_at is not null;

-- Mail to the owner of an account about the account itself, written in the transaction of what it tells about.
create table account_notices (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts (id) on delete cascade,
  subject text not null,
  body text not null,
  attempt_count smallint not null default 0,
  due_at timestamptz default now(),
  sent_at timestamptz,
  error text,
  created_at timestamptz not null default now()
);

create index account_notices_due on account_notices (due_at) where sent_at is null and due_at is not null;

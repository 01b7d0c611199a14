-- An email of its own is a row of email_messages without a batch. One with several recipients has a row for each of them:
-- the first one is its record and counts them in copies, the others are part_of it. kind: the field that names the
-- recipient. from_address, subject and template_id stand in the record; those of a batch's recipients in the batch.
alter table email_messages
  add column part_of bigint,
  add column copies smallint,
  add column kind text check (kind in ('to', 'cc', 'bcc')),
  add column from_address text,
  add column subject text,
  add column template_id text,
  add column opens integer not null default 0,
  add column clicks integer not null default 0,
  add column opened_at timestamptz,
  add column clicked_at timestamptz;

create index email_messages_parts on email_messages (part_of, position) where part_of is not null;

alter table email_batches add column template_id text;

-- What emails of their own are made from, until they are sent and a day old; id is that of the record.
create table email_contents (
  id bigint primary key,
  account_id bigint not null references accounts (id) on delete cascade,
  message_id text not null,
  from_name text,
  reply_to_name text,
  reply_to_address text,
  track_opens boolean not null default false,
  created_at timestamptz not null default now()
);

create index email_contents_account on email_contents (account_id);
create index email_contents_age on email_contents (created_at);

-- The texts and files of an email. Each is a row, as a row must fit into one message of the database's protocol.
create table email_parts (
  email_id bigint not null references email_contents (id) on delete cascade,
  position smallint not null,
  kind text not null check (kind in ('html', 'text', 'attachment')),
  filename text,
  content_type text,
  content bytea not null,
  primary key (email_id, position)
);

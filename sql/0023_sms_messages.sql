-- Messages of every channel but email. A row in 'sending' is in the hands of its channel and is shown as queued; what
-- else a channel has to know stands in tables of its own. Amounts are micro-dollars, frozen when the message is accepted.
create table messages (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts (id) on delete cascade,
  channel text not null check (channel in ('whatsapp', 'sms')),
  session_id bigint,
  direction text not null check (direction in ('in', 'out')),
  sender text,
  recipient text not null,
  type text not null default 'text',
  content jsonb not null,
  status text not null default 'queued'
    check (status in ('queued', 'sending', 'sent', 'delivered', 'read', 'failed', 'received', 'canceled')),
  error_code text,
  error_message text,
  segments smallint,
  cost_micros bigint,
  batch_id text,
  sent_at timestamptz,
  delivered_at timestamptz,
  read_at timestamptz,
  failed_at timestamptz,
  created_at timestamptz not null default now()
) with (fillfactor = 80);

create index messages_account on messages (account_id, channel, id desc);
create index messages_session on messages (session_id, id desc) where session_id is not null;
create index messages_batch on messages (batch_id, id) where batch_id is not null;

-- One text for up to 500 recipients, each of whom has a message. total = queued + sent + failed + canceled, as of email.
create table message_batches (
  id text primary key,
  account_id bigint not null references accounts (id) on delete cascade,
  channel text not null check (channel in ('whatsapp', 'sms')),
  status text not null default 'queued' check (status in ('queued', 'processing', 'completed', 'failed', 'canceled')),
  total integer not null,
  sent integer not null default 0,
  failed integer not null default 0,
  canceled integer not null default 0,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz,
  check (sent + failed + canceled <= total)
);

create index message_batches_account on message_batches (account_id, created_at desc);
create index message_batches_open on message_batches (created_at) where completed_at is null;

-- What an SMS is handed over as: one row for each segment, or one for the whole text where the provider cuts it (parts 1).
-- lane 0 is for messages of their own, 1 for batches. A row in 'sending' belongs to the node that renews due_at every
-- second. doubts: how often it may have been submitted without an answer; it is submitted again once.
create table sms_parts (
  message_id bigint not null references messages (id) on delete cascade,
  part_no smallint not null,
  parts smallint not null,
  encoding text not null check (encoding in ('gsm7', 'ucs2')),
  body text not null,
  lane smallint not null,
  status text not null default 'queued' check (status in ('queued', 'sending', 'sent', 'delivered', 'failed')),
  attempt_count smallint not null default 0,
  doubts smallint not null default 0,
  due_at timestamptz default now(),
  provider text,
  provider_message_id text,
  error_code text,
  error_message text,
  sent_at timestamptz,
  completed_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (message_id, part_no)
) with (fillfactor = 80);

create index sms_parts_due on sms_parts (lane, due_at, message_id, part_no) where status = 'queued';
create index sms_parts_sending on sms_parts (due_at) where status = 'sending';
create index sms_parts_receipts on sms_parts (provider_message_id, provider) where status = 'sent';

-- Receipts of submits whose answer has not been written down yet; kept for ten minutes.
create table sms_unmatched_receipts (
  id bigint generated always as identity primary key,
  provider text not null,
  provider_message_id text not null,
  state text not null check (state in ('delivered', 'failed')),
  error_code text,
  error_message text,
  received_at timestamptz not null default now()
);

create index sms_unmatched_receipts_age on sms_unmatched_receipts (received_at);

-- What the sandbox's phones got, and the receipts that it still owes.
create table sandbox_sms (
  id bigint generated always as identity primary key,
  sender text,
  recipient text not null,
  body text not null,
  encoding text not null,
  part_no smallint not null,
  parts smallint not null,
  message_id bigint not null,
  state text not null,
  receipt_due_at timestamptz,
  received_at timestamptz not null default now()
);

create index sandbox_sms_receipts on sandbox_sms (receipt_due_at) where receipt_due_at is not null;

-- A message with steps: the next channel follows when one fails. The rows are the truth, and the actor their single writer.
create table failovers (
  id text primary key,
  account_id bigint not null references accounts (id) on delete cascade,
  phone text,
  email text,
  status text not null default 'queued' check (status in ('scheduled', 'queued', 'processing', 'sent', 'delivered', 'read',
    'failed', 'canceled')),
  tags text[] not null default '{}',
  metadata jsonb not null default '{}',
  send_at timestamptz,
  -- When the actor has to look at it: its time, the end of a step's wait, or at once. null waits for a step's message.
  due_at timestamptz,
  canceled_at timestamptz,
  -- Its event is published. Later receipts still change the status.
  completed_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index failovers_due on failovers (due_at) where due_at is not null;
create index failovers_account on failovers (account_id, created_at desc);

create table failover_steps (
  failover_id text not null references failovers (id) on delete cascade,
  position smallint not null,
  account_id bigint not null,
  channel text not null check (channel in ('whatsapp', 'sms', 'email')),
  recipient text not null,
  until text not null check (until in ('sent', 'delivered', 'read')),
  within_seconds integer not null,
  -- The fields of the send, until the failover ends. Then the message has them.
  request jsonb,
  begun_at timestamptz,
  -- The message that the step became; null if it has not begun, or was refused when it began.
  message_id bigint,
  error text,
  primary key (failover_id, position)
);
create index failover_steps_account on failover_steps (account_id);

-- Failovers whose messages changed. A row of its own, because an outcome that locked the failover itself could deadlock
-- with a cancellation, which locks it first and then the message.
create table failover_signals (
  id bigint generated always as identity primary key,
  failover_id text not null
);
create index failover_signals_failover on failover_signals (failover_id);

create function signal_failover() returns trigger language plpgsql as $$
begin
  insert into failover_signals (failover_id) values (new.failover_id);
  return null;
end
$$;
create trigger failover_step_changed after update of status on messages for each row
  when (new.failover_id is not null and new.status is distinct from old.status) execute function signal_failover();
create trigger failover_step_changed after update of status on email_messages for each row
  when (new.failover_id is not null and new.status is distinct from old.status) execute function signal_failover();

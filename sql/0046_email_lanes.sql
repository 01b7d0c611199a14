-- Single emails by urgency: lane 0 is for one-time codes, 1 for others. The sender claims the oldest rows of a lane while
-- all due ones fit into its room, and otherwise those of the accounts whose turn it is.
alter table email_messages add column lane smallint not null default 1;

create index email_messages_lanes on email_messages (lane, due_at, id) where status = 'queued' and batch_id is null;
create index email_messages_turns on email_messages (lane, account_id, due_at, id)
  where status = 'queued' and batch_id is null;

-- Lists of messages, filtered by their recipient or by a rare status.
create index email_messages_recipient on email_messages (account_id, lower(recipient), id desc);

create index email_messages_rare on email_messages (account_id, status, id desc)
  where status in ('bounced', 'complained', 'failed', 'suppressed', 'canceled');

create index messages_recipient on messages (account_id, channel, recipient, id desc);

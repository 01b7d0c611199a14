-- A list of the texts that failed or were canceled, also one with a search, reads these alone.
create index messages_rare on messages (account_id, channel, status, id desc) where status in ('failed', 'canceled');

-- The messages from one number, for its chat. Only what came in has rows here, so that sending writes no more than before.
create index messages_sender on messages (account_id, channel, sender, id desc) where direction = 'in';

-- When the channel in use got the code, so that the next channel follows if the message does not arrive in time.
alter table verifications add column handed_at timestamptz;

-- The batch that sends to the failed recipients of this one again. There is one at most, so that a repeated request sends nothing.
alter table email_batches add column resent_as text;
alter table message_batches add column resent_as text;

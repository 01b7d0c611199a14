-- The last mails with a token to an unconfirmed address, newest first. It may be a stranger's, so an account that is deleted
-- and registered again does not begin to count anew. Losing them in a crash of the server only permits five more.
create unlogged table confirmation_mails (
  email_hash text primary key,
  sent_at timestamptz[] not null
);

create index confirmation_mails_age on confirmation_mails ((sent_at[1]));

-- When the recipient's own mail server confirmed a message (DSN, RFC 3464).
alter table email_messages add column delivered_at timestamptz;

-- Refusals that do not say whether the address exists (550 without a status, RFC 3463): the second one of an address
-- within 30 days suppresses it. One of a message counts once.
create table plain_refusals (
  account_id bigint not null references accounts (id) on delete cascade,
  email text not null,
  message_id bigint not null,
  refused_at timestamptz not null default now(),
  primary key (account_id, email, message_id)
);

create index plain_refusals_age on plain_refusals (refused_at);

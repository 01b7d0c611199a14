-- One-time codes. The code itself is nowhere: code_seed is random, and the code is a MAC of it under a key that is not in
-- this table. Messages that carry a code are stored with a mask and have the seed beside them; who hands one over fills the
-- mask in. attempts counts wrong ones. ended_at: when its end was told, by verify.completed or verify.expired.
-- channels_left: where an automatic one goes next when message_id, the message that carries the code, fails.
create table verifications (
  id text primary key,
  account_id bigint not null references accounts (id) on delete cascade,
  recipient text not null,
  channel text not null check (channel in ('sms', 'whatsapp', 'email')),
  status text not null default 'pending' check (status in ('pending', 'approved', 'expired', 'max_attempts')),
  attempts smallint not null default 0,
  sends smallint not null default 0,
  code_seed text not null,
  message_id bigint,
  channels_left text[] not null default '{}',
  brand_name text,
  locale text not null,
  web_domain text,
  session_id bigint,
  expires_at timestamptz not null,
  verified_at timestamptz,
  ended_at timestamptz,
  created_at timestamptz not null default now()
);

-- One at a time: a second code for the same recipient replaces the first.
create unique index verifications_pending on verifications (account_id, lower(recipient)) where status = 'pending';
create index verifications_recipient on verifications (account_id, lower(recipient), created_at desc);
create index verifications_open on verifications (expires_at) where ended_at is null;
create index verifications_automatic on verifications (id) where status = 'pending' and channels_left <> '{}';
create index verifications_ended on verifications (ended_at) where ended_at is not null;

-- Every code that was sent, for limits; kept for two days. prefix: a phone number without its last four digits.
-- client_network: the address of the person who asked for the code, of IPv6 the first 64 bits.
create table verification_sends (
  id bigint generated always as identity primary key,
  verification_id text not null references verifications (id) on delete cascade,
  account_id bigint not null references accounts (id) on delete cascade,
  recipient text not null,
  prefix text,
  client_network inet,
  created_at timestamptz not null default now()
);

create index verification_sends_verification on verification_sends (verification_id);
create index verification_sends_recipient on verification_sends (account_id, recipient, created_at);
create index verification_sends_prefix on verification_sends (account_id, prefix, created_at) where prefix is not null;
create index verification_sends_network on verification_sends (account_id, client_network, created_at)
  where client_network is not null;
create index verification_sends_age on verification_sends (created_at);

-- Prefixes that an account sends no codes to for a while, as nobody there enters them.
create table verification_blocks (
  account_id bigint not null references accounts (id) on delete cascade,
  prefix text not null,
  until timestamptz not null,
  primary key (account_id, prefix)
);

create index verification_blocks_age on verification_blocks (until);

alter table email_contents add column code_seed text;
alter table sms_parts add column code_seed text;

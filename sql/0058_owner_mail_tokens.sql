-- The text of a notice with a token, sealed under the main key for `notices:<id>:body`. `body` says nothing then.
alter table notices add column sealed_body bytea;

-- Addresses for which a password reset was requested, whether or not an account has them, and who asked. A task answers
-- them and deletes the row within seconds.
create table password_reset_requests (
  id bigint generated always as identity primary key,
  email text not null,
  client_address text not null
);

-- A new address of an account: pending until it is confirmed there (confirmed_at is null), then reversible from the old
-- address. token_hash is that of the mailed link: first the confirmation's, then the reversal's. Until expires_at, no other
-- account gets the old address. A row that was replaced or reversed has expired.
create table email_changes (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts (id) on delete cascade,
  old_email text not null,
  new_email text not null,
  token_hash bytea not null unique,
  requested_at timestamptz not null default now(),
  confirmed_at timestamptz,
  expires_at timestamptz not null
);

create index email_changes_account on email_changes (account_id);
create index email_changes_old_email on email_changes (lower(old_email));
create index email_changes_expires on email_changes (expires_at);

-- Checks of sending domains. last_check holds what the last one found, record by record; check_until is the lease of
-- the check under way, so that there is one at a time. next_check_at: null when nobody looks but on demand. failures
-- counts definitive failures of a verified domain in a row, the first of them at failing_since.
alter table email_domains
  add column last_check jsonb,
  add column checked_at timestamptz,
  add column check_until timestamptz,
  add column next_check_at timestamptz,
  add column pending_since timestamptz not null default now(),
  add column failures integer not null default 0,
  add column failing_since timestamptz;

create index email_domains_due on email_domains (next_check_at) where next_check_at is not null;
create index email_domains_domain on email_domains (domain);

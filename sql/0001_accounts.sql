-- Accounts, and the login sessions of people. API keys are in 0002.
create table accounts (
  id bigint generated always as identity primary key,
  name text not null,
  email text not null,
  password_hash text,
  plan text not null check (plan in ('starter', 'growth', 'business', 'enterprise')),
  trial_ends_at timestamptz,
  timezone text not null default 'UTC',
  locale text not null default 'en',
  created_at timestamptz not null default now()
);

create unique index accounts_email_key on accounts (lower(email));

create table login_sessions (
  token_hash bytea primary key,
  account_id bigint not null references accounts (id) on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create index login_sessions_account on login_sessions (account_id);

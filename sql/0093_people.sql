-- People who sign in to the console. The person with an account_id is the owner whom the account's row describes: their
-- address, password, language and time zone are in accounts, and null here. All others have their own. theme, hour_cycle
-- and has_shortcuts are how the console looks for them.
create table people (
  id bigint generated always as identity primary key,
  account_id bigint unique references accounts (id) on delete cascade,
  name text,
  email text,
  password_hash text,
  locale text,
  timezone text,
  is_operator boolean not null default false,
  last_account_id bigint,
  theme text not null default 'system' check (theme in ('system', 'light', 'dark')),
  hour_cycle text not null default 'language' check (hour_cycle in ('language', 'h12', 'h23')),
  has_shortcuts boolean not null default true,
  created_at timestamptz not null default now(),
  check ((account_id is null) = (email is not null))
);
create unique index people_email on people (lower(email));

-- A person's role in an account. What each role may do is in the program.
create table memberships (
  account_id bigint not null references accounts (id) on delete cascade,
  person_id bigint not null references people (id) on delete cascade,
  role text not null check (role in ('owner', 'admin', 'developer', 'support')),
  created_at timestamptz not null default now(),
  primary key (account_id, person_id)
);
create index memberships_person on memberships (person_id);

-- Each account has its owner.
insert into people (account_id) select id from accounts where deleted_at is null and id > 0 order by id;
insert into memberships (account_id, person_id, role) select account_id, id, 'owner' from people;

-- Links for the first operator. A used one is deleted with all others.
create table setup_links (
  token_hash bytea primary key,
  expires_at timestamptz not null
);

-- What a sign-in proves beside a password. credential_id and public_key are those of the authenticator.
create table passkeys (
  id bigint generated always as identity primary key,
  person_id bigint not null references people (id) on delete cascade,
  credential_id bytea not null unique,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null default '{}',
  name text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index passkeys_person on passkeys (person_id);

-- The challenge of a passkey that a browser was asked for. It works once.
create table passkey_challenges (
  challenge bytea primary key,
  person_id bigint references people (id) on delete cascade,
  expires_at timestamptz not null
);
create index passkey_challenges_person on passkey_challenges (person_id);

-- The authenticator app of a person: its seed, sealed for `authenticators:<person>:seed`. Until confirmed_at it proves
-- nothing. last_step is the newest time step whose code was used, so that no code works twice.
create table authenticators (
  person_id bigint primary key references people (id) on delete cascade,
  seed bytea not null,
  confirmed_at timestamptz,
  last_step bigint not null default 0
);

-- Codes that replace a lost second factor, as hashes. A used one is deleted.
create table recovery_codes (
  person_id bigint not null references people (id) on delete cascade,
  code_hash bytea not null,
  primary key (person_id, code_hash)
);

-- A login of an account (account_id) is a credential for /v1; a sign-in of a person (person_id) is one for /console. Its
-- token is renewed; the one before stays valid until previous_until. methods are the proofs of its person, proved_at is
-- the time of the last one.
alter table login_sessions alter column account_id drop not null;
alter table login_sessions add column person_id bigint references people (id) on delete cascade;
alter table login_sessions add column methods text[] not null default '{}';
alter table login_sessions add column proved_at timestamptz;
alter table login_sessions add column renewed_at timestamptz;
alter table login_sessions add column previous_hash bytea;
alter table login_sessions add column previous_until timestamptz;
alter table login_sessions add constraint login_sessions_owner check ((account_id is null) <> (person_id is null)) not valid;
create index login_sessions_person on login_sessions (person_id) where person_id is not null;
create index login_sessions_previous on login_sessions (previous_hash) where previous_hash is not null;

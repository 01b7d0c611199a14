-- Only the SHA-256 of a key is stored (spec 2.2: the secret is shown once).
create table api_keys (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts (id) on delete cascade,
  name text not null,
  key_hash bytea not null unique,
  key_prefix text not null,
  scopes text[] not null default '{}',
  permissions text[] not null default '{}',
  last_used_at timestamptz,
  expires_at timestamptz,
  created_at timestamptz not null default now()
);

create index api_keys_account on api_keys (account_id, id desc);

-- Bare hashes, without an account, kept 30 days so that a revoked key is told from an unknown one.
create table revoked_api_keys (
  key_hash bytea primary key,
  revoked_at timestamptz not null default now()
);

create index revoked_api_keys_age on revoked_api_keys (revoked_at);

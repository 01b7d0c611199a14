-- Keys of MACs, each sealed under the main key: links in mail that was sent long ago outlive a change of the main key.
create table keyring (
  purpose text primary key,
  sealed bytea not null,
  created_at timestamptz not null default now()
);

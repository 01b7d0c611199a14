-- Faults that an account has planned for the next messages of its test keys. The attempt that takes one deletes it.
create table sandbox_faults (
  id bigint generated always as identity primary key,
  account_id bigint not null,
  fault text not null,
  created_at timestamptz not null default now()
);
create index sandbox_faults_account on sandbox_faults (account_id, id);

-- Templates of email. A text that is null is made of the HTML when it is sent. variables: the names in subject, html and
-- text, kept so that lists need not read the texts. Whoever sends copies the texts, so nothing refers to a row.
create table email_templates (
  id text primary key,
  numeric_id bigint generated always as identity unique,
  account_id bigint not null references accounts (id) on delete cascade,
  name text not null,
  subject text not null,
  html text not null,
  text text,
  variables text[] not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index email_templates_account on email_templates (account_id, numeric_id desc);

-- The last texts of each template. A change of subject, HTML or text keeps the texts that it replaces; created_at is its time.
-- A node of the previous version keeps none. Deletes of templates take these rows along, on nodes of either version.
create table email_template_versions (
  id bigint generated always as identity primary key,
  account_id bigint not null,
  template_id text not null references email_templates (id) on delete cascade,
  subject text not null,
  html text not null,
  text text,
  created_at timestamptz not null default clock_timestamp()
);

create index email_template_versions_template on email_template_versions (template_id, id desc);
create index email_template_versions_account on email_template_versions (account_id);

-- What the sandbox's SMTP server took, for /sandbox/mail. Empty where a real relay is configured.
create table sandbox_mails (
  id bigint generated always as identity primary key,
  envelope_from text not null,
  recipient text not null,
  sender text not null,
  subject text not null,
  raw bytea not null,
  received_at timestamptz not null default now()
);

create index sandbox_mails_recipient on sandbox_mails (recipient, id desc);

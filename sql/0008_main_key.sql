-- One sealed value, by which a start under another ENCRYPTION_KEY is told before anything is sealed or opened with it.
create table main_key_probe (
  only_row boolean primary key default true check (only_row),
  sealed bytea not null
);

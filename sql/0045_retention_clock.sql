-- The time that decides which rows have expired. It follows the database's clock, at most an hour per round.
create table retention_clock (
  only_row boolean primary key default true check (only_row),
  at timestamptz not null
);
insert into retention_clock (at) values (now());

-- Messages whose texts are kept for longer than their ids say: what still waits, and what was sent long after it was accepted.
-- The texts of a message are erased once it is due and no longer waits.
create table retention_late (
  name text not null,
  due timestamptz not null,
  id bigint not null,
  primary key (name, due, id)
);

-- The rows of test keys belong to a shadow of their owner's account. Its id is the owner's with a minus, so every row tells
-- its mode. Plan and settings are copies of the owner's.
alter table accounts add column shadow_of bigint references accounts (id) on delete cascade;
alter table accounts add constraint accounts_shadow check (
  case when shadow_of is null then id > 0 else id = -shadow_of end
);

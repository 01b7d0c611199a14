-- The list of an account's verifications, the newest first.
create index verifications_account on verifications (account_id, created_at desc, id desc);

-- A released prefix gets codes again. Its row stays until its end, so that the guard does not block it again before.
alter table verification_blocks add column released_at timestamptz;

-- An account of open registration may send only after its owner has confirmed the address. Older accounts may send.
alter table accounts add column awaits_confirmation boolean not null default false;

-- Codes are also counted over all accounts, so that many accounts together cannot flood one person.
create index verification_sends_all_accounts on verification_sends (recipient, created_at);

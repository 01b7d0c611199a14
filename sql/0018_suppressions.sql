-- An account reads its suppressions newest first, page by page.
create index suppressions_newest on suppressions (account_id, created_at desc, email);

-- Names the claims of a recipient. Attempts do not: a relay that is away costs none, and would leave two claims with one
-- name. The default is stored in the catalog, so no row is rewritten.
alter table email_messages add column claims integer not null default 0;

-- The recipients of a send that was refused, each as the start of an HMAC, so that people find the request by an address or a number.
-- Null for all other requests.
alter table request_log add column recipients bytea[];
create index request_log_recipients on request_log using gin (recipients) with (fastupdate = off) where recipients is not null;

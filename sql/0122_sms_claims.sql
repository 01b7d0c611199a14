-- Names the claims of a part. Attempts do not: an outcome that costs none would leave two claims with one name.
alter table sms_parts add column claims integer not null default 0;

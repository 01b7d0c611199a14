-- The country of the number and what the messages cost, for the figures of one-time codes. Earlier rows have neither.
alter table verifications
  add column country text,
  add column cost_micros bigint not null default 0;

-- How many attempts of a webhook succeeded and failed in an hour, by how long they took: the figures of the last 24 hours.
-- Each node adds what it has counted in memory every two seconds. A webhook has one actor, so nodes do not wait for each
-- other. Without a foreign key: a node adds to webhooks of which one may just be removed.
create table webhook_attempt_counts (
  webhook_id bigint not null,
  hour timestamptz not null,
  -- Quarters of the binary logarithm of the milliseconds, rounded up: 40 is for 862 to 1,024 ms.
  duration smallint not null,
  succeeded integer not null,
  failed integer not null,
  primary key (webhook_id, hour, duration)
) with (fillfactor = 70);
create index webhook_attempt_counts_hour on webhook_attempt_counts (hour);

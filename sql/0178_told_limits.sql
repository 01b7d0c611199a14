-- The limit that a notice named; null for one that a node of the previous version wrote. An account whose limit rises within
-- the month is told again when it reaches the new one.
alter table usage_alerts add told_limit bigint;

-- What accounts use, by day (UTC) and metric. Written in the transaction of what is counted, so that both exist or
-- neither. slot: the connections that count for one account at the same time use rows of their own as far as there are
-- slots, and do not wait for each other's commit; what was used is the sum. cost: millionths of a US dollar.
create table usage_daily (
  account_id bigint not null references accounts (id) on delete cascade,
  day date not null,
  metric text not null,
  slot smallint not null,
  count bigint not null,
  cost_micros bigint not null,
  primary key (account_id, day, metric, slot)
) with (fillfactor = 60);

create index usage_daily_day on usage_daily (day);

-- What was sent before there was a count of it.
insert into usage_daily (account_id, day, metric, slot, count, cost_micros)
select m.account_id, (m.created_at at time zone 'UTC')::date, 'email', 0, count(*), 0
from email_messages m join accounts a on a.id = m.account_id
where not (m.status = 'suppressed' and m.completed_at = m.created_at) group by 1, 2;

insert into usage_daily (account_id, day, metric, slot, count, cost_micros)
select m.account_id, (m.sent_at at time zone 'UTC')::date, 'email_sent', 0, count(*), 0
from email_messages m join accounts a on a.id = m.account_id where m.sent_at is not null group by 1, 2;

-- What an account was told of its usage in a month: 80 and 100 percent of a quota, and a volume for a price of its own.
-- The row and its notice are written together, so that each is told once.
create table usage_alerts (
  account_id bigint not null references accounts (id) on delete cascade,
  month date not null,
  metric text not null,
  kind text not null check (kind in ('warning', 'reached', 'high_volume')),
  told_at timestamptz not null default now(),
  primary key (account_id, month, metric, kind)
);

-- The last Monday, in the account's timezone, whose week before was looked at for a digest.
alter table accounts add digest_week date;

-- What the owner of an account wants to be told (spec 2.8).
alter table accounts
  add email_alerts boolean not null default true,
  add usage_warnings boolean not null default true,
  add weekly_digest boolean not null default false,
  add security_alerts boolean not null default true,
  add marketing_emails boolean not null default false;

create index accounts_digest on accounts (id) where weekly_digest;

-- unwanted: the owner had switched off what the notice is about when it was due. recipient: in the place of the account's
-- address, where that is not who has to know.
alter table notices add recipient text;
alter table notices drop constraint notices_status_check;
alter table notices add constraint notices_status_check check (status in ('queued', 'sent', 'failed', 'unwanted'));

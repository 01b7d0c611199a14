-- Per webhook: how long a failed delivery is retried, which channels and tags it wants (empty: all), and headers that every
-- delivery carries. The headers are sealed; only their names are readable.
alter table webhooks
  add column retry_policy text not null default 'standard' check (retry_policy in ('standard', 'extended')),
  add column channels text[] not null default '{}',
  add column tags text[] not null default '{}',
  add column headers bytea,
  add column header_names text[] not null default '{}';

-- The request that was the last recorded use of a key: its address, and its method with the path of its endpoint.
alter table api_keys add column last_used_ip text, add column last_used_endpoint text;

-- The requests with a key by the class of their answer. A row changes every few seconds, so its page has room for that.
create table api_key_requests (
  key_id bigint not null references api_keys on delete cascade,
  day date not null,
  succeeded bigint not null,
  refused bigint not null,
  failed bigint not null,
  primary key (key_id, day)
) with (fillfactor = 70);
create index api_key_requests_day on api_key_requests (day);

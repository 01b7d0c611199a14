-- After a rotation the secret before signs beside the new one until its time is over; it is sealed as `secret` is.
alter table webhooks
  add column previous_secret bytea,
  add column previous_secret_until timestamptz,
  add constraint webhooks_previous_secret check ((previous_secret is null) = (previous_secret_until is null));

create index webhooks_previous_secret_until on webhooks (previous_secret_until) where previous_secret is not null;

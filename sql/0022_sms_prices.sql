-- What one SMS segment costs per country, in micro-dollars. A country that is not enabled is not sent to and not listed.
create table sms_prices (
  code text primary key check (code ~ '^[A-Z]{2}$'),
  country text not null,
  dial_prefix text not null check (dial_prefix ~ '^\+[0-9]{1,7}$'),
  price_micros bigint not null check (price_micros >= 0),
  enabled boolean not null default true,
  updated_at timestamptz not null default now()
);

-- Every price that ever was in force, from when on.
create table sms_price_history (
  code text not null,
  price_micros bigint not null,
  valid_from timestamptz not null default now(),
  primary key (code, valid_from)
);

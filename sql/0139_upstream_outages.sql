-- An upstream that a node cannot reach. The node renews its row every two seconds, so a crash of the server loses nothing.
create unlogged table upstream_outages (
  id bigint generated always as identity primary key,
  upstream text not null check (upstream in ('relay', 'carrier')),
  since timestamptz not null default now(),
  seen_at timestamptz not null default now()
);

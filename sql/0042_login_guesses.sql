-- Wrong passwords for an address from one client network. Losing them in a crash of the server only forgives them.
create unlogged table login_guesses (
  email_hash text not null,
  client_network text not null,
  failures integer not null,
  failed_at timestamptz not null,
  retry_at timestamptz not null,
  primary key (email_hash, client_network)
);

create index login_guesses_age on login_guesses (failed_at);

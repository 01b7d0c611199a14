-- The sum of all migrations, for reading only. Made by scripts/schema.ts.

create table accounts (
  id bigint generated always as identity not null,
  name text not null,
  email text not null,
  password_hash text,
  plan text not null,
  trial_ends_at timestamp with time zone,
  timezone text default 'UTC'::text not null,
  locale text default 'en'::text not null,
  created_at timestamp with time zone default now() not null,
  constraint accounts_pkey PRIMARY KEY (id),
  constraint accounts_plan_check CHECK (plan = ANY (ARRAY['starter'::text, 'growth'::text, 'business'::text, 'enterprise'::text]))
);
CREATE UNIQUE INDEX accounts_email_key ON accounts USING btree (lower(email));

create table api_keys (
  id bigint generated always as identity not null,
  account_id bigint not null,
  name text not null,
  key_hash bytea not null,
  key_prefix text not null,
  scopes text[] default '{}'::text[] not null,
  permissions text[] default '{}'::text[] not null,
  last_used_at timestamp with time zone,
  expires_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_key_hash_key UNIQUE (key_hash),
  constraint api_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX api_keys_account ON api_keys USING btree (account_id, id DESC);

create table email_batches (
  id text not null,
  account_id bigint not null,
  status text default 'queued'::text not null,
  from_address text not null,
  from_name text,
  subject text not null,
  html text not null,
  text text,
  total integer not null,
  sent integer default 0 not null,
  failed integer default 0 not null,
  suppressed integer default 0 not null,
  canceled integer default 0 not null,
  ambiguous integer default 0 not null,
  created_at timestamp with time zone default now() not null,
  started_at timestamp with time zone,
  completed_at timestamp with time zone,
  constraint email_batches_pkey PRIMARY KEY (id),
  constraint email_batches_check CHECK ((sent + failed + suppressed + canceled) <= total),
  constraint email_batches_status_check CHECK (status = ANY (ARRAY['queued'::text, 'processing'::text, 'completed'::text, 'failed'::text, 'canceled'::text])),
  constraint email_batches_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX email_batches_account ON email_batches USING btree (account_id, created_at DESC);
CREATE INDEX email_batches_open ON email_batches USING btree (created_at) WHERE completed_at IS NULL;

create table email_domains (
  id bigint generated always as identity not null,
  account_id bigint not null,
  domain text not null,
  status text default 'pending'::text not null,
  dkim_private_key bytea,
  dkim_public_key text,
  created_at timestamp with time zone default now() not null,
  constraint email_domains_pkey PRIMARY KEY (id),
  constraint email_domains_account_id_domain_key UNIQUE (account_id, domain),
  constraint email_domains_status_check CHECK (status = ANY (ARRAY['pending'::text, 'verified'::text])),
  constraint email_domains_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX email_domains_verified ON email_domains USING btree (domain) WHERE status = 'verified'::text;

create table email_messages (
  id bigint generated always as identity not null,
  account_id bigint not null,
  batch_id text,
  "position" integer,
  recipient text not null,
  variables jsonb default '{}'::jsonb not null,
  status text default 'queued'::text not null,
  attempt_count smallint default 0 not null,
  due_at timestamp with time zone,
  bounce_type text,
  error text,
  sent_at timestamp with time zone,
  completed_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  constraint email_messages_pkey PRIMARY KEY (id),
  constraint email_messages_bounce_type_check CHECK (bounce_type = ANY (ARRAY['hard'::text, 'soft'::text])),
  constraint email_messages_status_check CHECK (status = ANY (ARRAY['queued'::text, 'sending'::text, 'sent'::text, 'delivered'::text, 'opened'::text, 'clicked'::text, 'bounced'::text, 'complained'::text, 'failed'::text, 'suppressed'::text, 'canceled'::text]))
) with (fillfactor=80);
CREATE INDEX email_messages_account ON email_messages USING btree (account_id, id DESC);
CREATE UNIQUE INDEX email_messages_batch ON email_messages USING btree (batch_id, "position") WHERE batch_id IS NOT NULL;
CREATE INDEX email_messages_due ON email_messages USING btree (batch_id, due_at, id) WHERE status = 'queued'::text;
CREATE INDEX email_messages_sending ON email_messages USING btree (batch_id) WHERE status = 'sending'::text;

create table events (
  id text not null,
  account_id bigint not null,
  name text not null,
  body bytea not null,
  created_at timestamp with time zone default now() not null,
  constraint events_pkey PRIMARY KEY (id)
);
CREATE INDEX events_account ON events USING btree (account_id);

create table idempotency_records (
  scope text not null,
  key text not null,
  fingerprint bytea not null,
  status smallint not null,
  headers jsonb not null,
  body bytea not null,
  created_at timestamp with time zone default now() not null,
  constraint idempotency_records_pkey PRIMARY KEY (scope, key)
);
CREATE INDEX idempotency_records_age ON idempotency_records USING btree (created_at);

create table login_sessions (
  token_hash bytea not null,
  account_id bigint not null,
  created_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone not null,
  constraint login_sessions_pkey PRIMARY KEY (token_hash),
  constraint login_sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX login_sessions_account ON login_sessions USING btree (account_id);

create table main_key_probe (
  only_row boolean default true not null,
  sealed bytea not null,
  constraint main_key_probe_pkey PRIMARY KEY (only_row),
  constraint main_key_probe_only_row_check CHECK (only_row)
);

create unlogged table rate_windows (
  bucket text not null,
  starts_at timestamp with time zone not null,
  used integer not null,
  constraint rate_windows_pkey PRIMARY KEY (bucket, starts_at)
) with (fillfactor=50);
CREATE INDEX rate_windows_age ON rate_windows USING btree (starts_at);

create table revoked_api_keys (
  key_hash bytea not null,
  revoked_at timestamp with time zone default now() not null,
  constraint revoked_api_keys_pkey PRIMARY KEY (key_hash)
);
CREATE INDEX revoked_api_keys_age ON revoked_api_keys USING btree (revoked_at);

create table sandbox_mails (
  id bigint generated always as identity not null,
  envelope_from text not null,
  recipient text not null,
  sender text not null,
  subject text not null,
  raw bytea not null,
  received_at timestamp with time zone default now() not null,
  constraint sandbox_mails_pkey PRIMARY KEY (id)
);
CREATE INDEX sandbox_mails_recipient ON sandbox_mails USING btree (recipient, id DESC);

create table suppressions (
  account_id bigint not null,
  email text not null,
  reason text not null,
  source_message_id bigint,
  created_at timestamp with time zone default now() not null,
  constraint suppressions_pkey PRIMARY KEY (account_id, email),
  constraint suppressions_reason_check CHECK (reason = ANY (ARRAY['unsubscribe'::text, 'bounce'::text, 'complaint'::text, 'manual'::text])),
  constraint suppressions_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);

create table webhook_attempts (
  delivery_id bigint not null,
  attempt smallint not null,
  started_at timestamp with time zone not null,
  duration_ms integer not null,
  response_code smallint,
  error text,
  response_body bytea,
  constraint webhook_attempts_pkey PRIMARY KEY (delivery_id, attempt)
);

create table webhook_deliveries (
  id bigint generated always as identity not null,
  webhook_id bigint not null,
  account_id bigint not null,
  event_id text not null,
  event text not null,
  status text default 'pending'::text not null,
  attempt_count smallint default 0 not null,
  due_at timestamp with time zone default now(),
  response_code smallint,
  error text,
  duration_ms integer,
  is_test boolean default false not null,
  created_at timestamp with time zone default now() not null,
  completed_at timestamp with time zone,
  constraint webhook_deliveries_pkey PRIMARY KEY (id),
  constraint webhook_deliveries_status_check CHECK (status = ANY (ARRAY['pending'::text, 'retrying'::text, 'taken'::text, 'delivered'::text, 'failed'::text, 'skipped'::text]))
) with (fillfactor=70);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries USING btree (webhook_id, due_at, id) WHERE status = ANY (ARRAY['pending'::text, 'retrying'::text]);
CREATE INDEX webhook_deliveries_history ON webhook_deliveries USING btree (webhook_id, id DESC);
CREATE INDEX webhook_deliveries_taken ON webhook_deliveries USING btree (webhook_id) WHERE status = 'taken'::text;

create table webhooks (
  id bigint generated always as identity not null,
  account_id bigint not null,
  url text not null,
  events text[] not null,
  secret bytea not null,
  secret_prefix text not null,
  is_active boolean default true not null,
  failure_count integer default 0 not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint webhooks_pkey PRIMARY KEY (id),
  constraint webhooks_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX webhooks_account ON webhooks USING btree (account_id, id DESC);

-- The sum of all migrations until 0178_told_limits.sql, which an empty database gets instead. Written by scripts/schema.ts.

create sequence webhook_delivery_ids;

CREATE OR REPLACE FUNCTION account_tags(account bigint, tags text[])
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ select coalesce(array_agg(account::text || ':' || tag), '{}') from unnest(tags) as tag $function$
;

CREATE OR REPLACE FUNCTION drop_oldest_day_partition(parent regclass, before date)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  partition text;
begin
  perform pg_advisory_xact_lock(7236150419);
  select c.oid::regclass into partition
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = parent and c.relname ~ '_[0-9]{8}$' and right(c.relname, 8) < to_char(before, 'YYYYMMDD')
    order by right(c.relname, 8) limit 1;
  if partition is not null then
    -- Nobody who writes waits behind this lock, and an autovacuum gives way to it, which takes deadlock_timeout.
    perform set_config('lock_timeout', '10s', true);
    execute format('lock table %s in share update exclusive mode', partition);
    perform set_config('lock_timeout', '500ms', true);
    execute format('drop table %s', partition);
  end if;
  return partition;
end $function$
;

CREATE OR REPLACE FUNCTION make_day_partitions(first date, last date)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  parent text;
  partition text;
  since timestamptz;
  until timestamptz;
begin
  perform pg_advisory_xact_lock(7236150419);
  for since in select day at time zone 'UTC' from generate_series(first::timestamp, last::timestamp, '1 day') as days (day) loop
    until := since + interval '24 hours';
    foreach parent in array array['events', 'webhook_deliveries', 'email_bodies', 'message_attempts', 'request_log'] loop
      partition := parent || to_char(since at time zone 'UTC', '_YYYYMMDD');
      continue when to_regclass(partition) is not null;
      execute format('create table %I (like %I including all)', partition, parent);
      if parent = 'events' then
        execute format('alter table events attach partition %I for values from (%L) to (%L)', partition,
          'evt_' || ulid_time(since), 'evt_' || ulid_time(until));
      elsif parent = 'email_bodies' then
        execute format('alter table email_bodies attach partition %I for values from (%L) to (%L)', partition,
          (since at time zone 'UTC')::date, (until at time zone 'UTC')::date);
      elsif parent = 'request_log' then
        execute format('alter table request_log attach partition %I for values from (%L) to (%L)', partition,
          uuid_time(since), uuid_time(until));
      else
        execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, partition,
          since, until);
      end if;
    end loop;
  end loop;
end $function$
;

CREATE OR REPLACE FUNCTION note_session_state()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into whatsapp_session_states (session_id, status, reason) values (new.id, new.status, new.reason);
  return null;
end
$function$
;

CREATE OR REPLACE FUNCTION search_terms(channel text, block bigint, words tsvector)
 RETURNS tsvector
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ select array_to_tsvector(array(select left(channel, 1) || block::text || ':' || lexeme from unnest(words))) $function$
;

CREATE OR REPLACE FUNCTION signal_failover()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into failover_signals (failover_id) values (new.failover_id);
  return null;
end
$function$
;

CREATE OR REPLACE FUNCTION ulid_time(at timestamp with time zone)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE STRICT
AS $function$
declare
  rest bigint := floor(extract(epoch from at) * 1000);
  characters text := '';
begin
  for position in 1..10 loop
    characters := substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (rest % 32)::integer + 1, 1) || characters;
    rest := rest / 32;
  end loop;
  return characters;
end $function$
;

CREATE OR REPLACE FUNCTION uuid_time(at timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE STRICT
AS $function$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$function$
;

CREATE OR REPLACE FUNCTION with_reschedule(earlier jsonb, send_at timestamp with time zone, next timestamp with time zone)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select case when jsonb_array_length(coalesce(earlier, '[]')) < 20 then coalesce(earlier, '[]') else earlier - 1 end
    || jsonb_build_object(
      'at', to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      'from', to_char(send_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      'to', to_char(next at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
$function$
;

create table account_erasures (
  account_id bigint not null,
  requested_at timestamp with time zone default now() not null,
  next_at timestamp with time zone default now() not null,
  constraint account_erasures_pkey PRIMARY KEY (account_id)
);
CREATE INDEX account_erasures_next ON account_erasures USING btree (next_at);

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
  digest_week date,
  email_alerts boolean default true not null,
  usage_warnings boolean default true not null,
  weekly_digest boolean default false not null,
  security_alerts boolean default true not null,
  marketing_emails boolean default false not null,
  deleted_at timestamp with time zone,
  message_retention_days smallint,
  content_retention_days smallint,
  messages_since date default '-infinity'::date not null,
  awaits_confirmation boolean default false not null,
  shadow_of bigint,
  constraint accounts_pkey PRIMARY KEY (id),
  constraint accounts_content_retention_days_check CHECK (content_retention_days > 0),
  constraint accounts_message_retention_days_check CHECK (message_retention_days > 0),
  constraint accounts_plan_check CHECK (plan = ANY (ARRAY['starter'::text, 'growth'::text, 'business'::text, 'enterprise'::text])),
  constraint accounts_shadow CHECK (
CASE
    WHEN shadow_of IS NULL THEN id > 0
    ELSE id = (- shadow_of)
END),
  constraint accounts_shadow_of_fkey FOREIGN KEY (shadow_of) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX accounts_digest ON accounts USING btree (id) WHERE weekly_digest;
CREATE UNIQUE INDEX accounts_email_key ON accounts USING btree (lower(email));

create unlogged table confirmation_mails (
  email_hash text not null,
  sent_at timestamp with time zone[] not null,
  constraint confirmation_mails_pkey PRIMARY KEY (email_hash)
);
CREATE INDEX confirmation_mails_age ON confirmation_mails USING btree ((sent_at[1]));

create table email_bodies (
  day date not null,
  account_id bigint not null,
  hash bytea not null,
  content bytea not null,
  constraint email_bodies_pkey PRIMARY KEY (account_id, hash, day)
) partition by RANGE (day);
alter table email_bodies alter column content set storage external;

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
  delivered_at timestamp with time zone,
  part_of bigint,
  copies smallint,
  kind text,
  from_address text,
  subject text,
  template_id text,
  opens integer default 0 not null,
  clicks integer default 0 not null,
  opened_at timestamp with time zone,
  clicked_at timestamp with time zone,
  machine_opens integer default 0 not null,
  bot_clicks integer default 0 not null,
  links text[],
  doubts smallint default 0 not null,
  lane smallint default 1 not null,
  tags text[] default '{}'::text[] not null,
  metadata jsonb default '{}'::jsonb not null,
  send_at timestamp with time zone,
  failover_id text,
  accepted_by jsonb,
  claims integer default 0 not null,
  reschedules jsonb,
  message_id text,
  constraint email_messages_pkey PRIMARY KEY (id),
  constraint email_messages_bounce_type_check CHECK (bounce_type = ANY (ARRAY['hard'::text, 'soft'::text])),
  constraint email_messages_kind_check CHECK (kind = ANY (ARRAY['to'::text, 'cc'::text, 'bcc'::text])),
  constraint email_messages_status_check CHECK (status = ANY (ARRAY['scheduled'::text, 'queued'::text, 'sending'::text, 'sent'::text, 'delivered'::text, 'opened'::text, 'clicked'::text, 'bounced'::text, 'complained'::text, 'failed'::text, 'suppressed'::text, 'canceled'::text]))
) with (fillfactor=80);
CREATE INDEX email_messages_account ON email_messages USING btree (account_id, id DESC);
CREATE UNIQUE INDEX email_messages_batch ON email_messages USING btree (batch_id, "position") WHERE batch_id IS NOT NULL;
CREATE INDEX email_messages_due ON email_messages USING btree (batch_id, due_at, id) WHERE status = 'queued'::text;
CREATE INDEX email_messages_lanes ON email_messages USING btree (lane, due_at, id) WHERE status = 'queued'::text AND batch_id IS NULL;
CREATE INDEX email_messages_parts ON email_messages USING btree (part_of, "position") WHERE part_of IS NOT NULL;
CREATE INDEX email_messages_rare_records ON email_messages USING btree (account_id, status, COALESCE(part_of, id) DESC) WHERE status = ANY (ARRAY['bounced'::text, 'complained'::text, 'failed'::text, 'suppressed'::text, 'canceled'::text]);
CREATE INDEX email_messages_recipient ON email_messages USING btree (account_id, lower(recipient), id DESC);
CREATE INDEX email_messages_scheduled ON email_messages USING btree (send_at, id) WHERE status = 'scheduled'::text AND batch_id IS NULL;
CREATE INDEX email_messages_scheduled_turns ON email_messages USING btree (account_id, send_at, id) WHERE status = 'scheduled'::text AND batch_id IS NULL;
CREATE INDEX email_messages_sending ON email_messages USING btree (batch_id) WHERE status = 'sending'::text;
CREATE INDEX email_messages_tags ON email_messages USING gin (account_tags(account_id, tags)) WHERE tags <> '{}'::text[];
CREATE INDEX email_messages_turns ON email_messages USING btree (lane, account_id, due_at, id) WHERE status = 'queued'::text AND batch_id IS NULL;
CREATE TRIGGER failover_step_changed AFTER UPDATE OF status, delivered_at, opens, clicks ON email_messages FOR EACH ROW WHEN (new.failover_id IS NOT NULL AND (new.status IS DISTINCT FROM old.status OR new.delivered_at IS DISTINCT FROM old.delivered_at OR (new.opens > new.machine_opens OR new.clicks > new.bot_clicks) AND old.opens <= old.machine_opens AND old.clicks <= old.bot_clicks)) EXECUTE FUNCTION signal_failover();

create table events (
  id text collate "C" not null,
  account_id bigint not null,
  name text not null,
  body bytea not null,
  created_at timestamp with time zone default now() not null,
  channel text,
  message_id bigint,
  subject text,
  webhook_ids bigint[],
  delivery_ids bigint[],
  constraint events_pkey PRIMARY KEY (id)
) partition by RANGE (id);
CREATE INDEX events_message ON ONLY events USING btree (message_id) WHERE message_id IS NOT NULL;
CREATE INDEX events_subject ON ONLY events USING btree (subject) WHERE subject IS NOT NULL;

create table failover_signals (
  id bigint generated always as identity not null,
  failover_id text not null,
  constraint failover_signals_pkey PRIMARY KEY (id)
);
CREATE INDEX failover_signals_failover ON failover_signals USING btree (failover_id);

create table idempotency_claims (
  scope text not null,
  key text not null,
  holder uuid default gen_random_uuid() not null,
  expires_at timestamp with time zone not null,
  constraint idempotency_claims_pkey PRIMARY KEY (scope, key)
);

create table idempotency_records (
  scope text not null,
  key text not null,
  fingerprint bytea not null,
  status smallint not null,
  headers jsonb not null,
  body bytea not null,
  created_at timestamp with time zone default now() not null,
  account_id bigint,
  constraint idempotency_records_pkey PRIMARY KEY (scope, key)
);
CREATE INDEX idempotency_records_account ON idempotency_records USING btree (account_id);
CREATE INDEX idempotency_records_age ON idempotency_records USING btree (created_at);

create table keyring (
  purpose text not null,
  sealed bytea not null,
  created_at timestamp with time zone default now() not null,
  constraint keyring_pkey PRIMARY KEY (purpose)
);

create unlogged table login_guesses (
  email_hash text not null,
  client_network text not null,
  failures integer not null,
  failed_at timestamp with time zone not null,
  retry_at timestamp with time zone not null,
  constraint login_guesses_pkey PRIMARY KEY (email_hash, client_network)
);
CREATE INDEX login_guesses_age ON login_guesses USING btree (failed_at);

create table main_key_probe (
  only_row boolean default true not null,
  sealed bytea not null,
  constraint main_key_probe_pkey PRIMARY KEY (only_row),
  constraint main_key_probe_only_row_check CHECK (only_row)
);

create table message_attempts (
  account_id bigint not null,
  channel text not null,
  message_id bigint not null,
  part smallint,
  recipient text,
  at timestamp with time zone default now() not null,
  attempt smallint not null,
  outcome text not null,
  duration_ms integer,
  peer text,
  reply text,
  next_at timestamp with time zone,
  dialogue text
) partition by RANGE (at);
CREATE INDEX message_attempts_message ON ONLY message_attempts USING btree (message_id);

create table message_search (
  account_id bigint not null,
  channel text not null,
  message_id bigint not null,
  words tsvector not null,
  block bigint default 0 not null,
  constraint message_search_pkey PRIMARY KEY (account_id, channel, message_id)
);
CREATE INDEX message_search_terms ON message_search USING gin (search_terms(channel, block, words)) WITH (fastupdate='on');

create table message_search_blocks (
  account_id bigint not null,
  channel text not null,
  first_id bigint not null,
  last_id bigint not null,
  records integer not null,
  constraint message_search_blocks_pkey PRIMARY KEY (account_id, channel, first_id)
);

create table message_search_progress (
  name text not null,
  id bigint not null,
  constraint message_search_progress_pkey PRIMARY KEY (name)
);

create table message_stat_entries (
  account_id bigint not null,
  hour timestamp with time zone not null,
  channel text not null,
  outcome text not null,
  reason text not null,
  count bigint not null
);

create table password_reset_requests (
  id bigint generated always as identity not null,
  email text not null,
  client_address text not null,
  constraint password_reset_requests_pkey PRIMARY KEY (id)
);

create unlogged table rate_windows (
  bucket text not null,
  starts_at timestamp with time zone not null,
  used integer not null,
  constraint rate_windows_pkey PRIMARY KEY (bucket, starts_at)
) with (fillfactor=50);
CREATE INDEX rate_windows_age ON rate_windows USING btree (starts_at);

create table removed_webhooks (
  webhook_id bigint not null,
  removed_at timestamp with time zone default now() not null,
  account_id bigint,
  constraint removed_webhooks_pkey PRIMARY KEY (webhook_id)
);
CREATE INDEX removed_webhooks_account ON removed_webhooks USING btree (account_id);

create table request_log (
  account_id bigint not null,
  id uuid not null,
  method text not null,
  path text not null,
  route text not null,
  status smallint not null,
  duration_ms integer not null,
  key_id bigint,
  key_prefix text,
  person_id bigint,
  ip text not null,
  made text,
  error jsonb,
  recipients bytea[],
  constraint request_log_pkey PRIMARY KEY (account_id, id)
) partition by RANGE (id);
CREATE INDEX request_log_recipients ON ONLY request_log USING gin (recipients) WITH (fastupdate=off) WHERE recipients IS NOT NULL;
CREATE INDEX request_log_refused ON ONLY request_log USING btree (account_id, id) WHERE status >= 400;

create table retention_clock (
  only_row boolean default true not null,
  at timestamp with time zone not null,
  constraint retention_clock_pkey PRIMARY KEY (only_row),
  constraint retention_clock_only_row_check CHECK (only_row)
);

create table retention_late (
  name text not null,
  due timestamp with time zone not null,
  id bigint not null,
  constraint retention_late_pkey PRIMARY KEY (name, due, id)
);

create table retention_marks (
  at timestamp with time zone not null,
  email_messages bigint not null,
  messages bigint not null,
  constraint retention_marks_pkey PRIMARY KEY (at)
);

create table retention_progress (
  name text not null,
  id bigint not null,
  constraint retention_progress_pkey PRIMARY KEY (name)
);

create table revoked_api_keys (
  key_hash bytea not null,
  revoked_at timestamp with time zone default now() not null,
  constraint revoked_api_keys_pkey PRIMARY KEY (key_hash)
);
CREATE INDEX revoked_api_keys_age ON revoked_api_keys USING btree (revoked_at);

create table sandbox_faults (
  id bigint generated always as identity not null,
  account_id bigint not null,
  fault text not null,
  created_at timestamp with time zone default now() not null,
  constraint sandbox_faults_pkey PRIMARY KEY (id)
);
CREATE INDEX sandbox_faults_account ON sandbox_faults USING btree (account_id, id);

create table sandbox_mails (
  id bigint generated always as identity not null,
  envelope_from text not null,
  recipient text not null,
  sender text not null,
  subject text not null,
  raw bytea not null,
  received_at timestamp with time zone default now() not null,
  search text default ''::text not null,
  attachment_count integer default 0 not null,
  read_at timestamp with time zone,
  account_id bigint,
  constraint sandbox_mails_pkey PRIMARY KEY (id)
);
CREATE INDEX sandbox_mails_account ON sandbox_mails USING btree (account_id, id DESC) WHERE account_id IS NOT NULL;
CREATE INDEX sandbox_mails_lower_recipient ON sandbox_mails USING btree (lower(recipient), id DESC);

create table sandbox_receivers (
  account_id bigint not null,
  failing_until timestamp with time zone not null,
  constraint sandbox_receivers_pkey PRIMARY KEY (account_id)
);

create table sandbox_sms (
  id bigint generated always as identity not null,
  sender text,
  recipient text not null,
  body text not null,
  encoding text not null,
  part_no smallint not null,
  parts smallint not null,
  message_id bigint not null,
  state text not null,
  receipt_due_at timestamp with time zone,
  received_at timestamp with time zone default now() not null,
  account_id bigint,
  is_hidden boolean default false not null,
  constraint sandbox_sms_pkey PRIMARY KEY (id)
);
CREATE INDEX sandbox_sms_account ON sandbox_sms USING btree (account_id, message_id DESC) WHERE account_id IS NOT NULL;
CREATE INDEX sandbox_sms_receipts ON sandbox_sms USING btree (receipt_due_at) WHERE receipt_due_at IS NOT NULL;

create table sandbox_whatsapp (
  name text not null,
  value text not null,
  constraint sandbox_whatsapp_pkey PRIMARY KEY (name)
);

create table sandbox_whatsapp_host (
  only_row boolean default true not null,
  port integer not null,
  since timestamp with time zone default now() not null,
  constraint sandbox_whatsapp_host_pkey PRIMARY KEY (only_row),
  constraint sandbox_whatsapp_host_only_row_check CHECK (only_row)
);

create table setup_links (
  token_hash bytea not null,
  expires_at timestamp with time zone not null,
  constraint setup_links_pkey PRIMARY KEY (token_hash)
);

create table sms_price_history (
  code text not null,
  price_micros bigint not null,
  valid_from timestamp with time zone default now() not null,
  constraint sms_price_history_pkey PRIMARY KEY (code, valid_from)
);

create table sms_prices (
  code text not null,
  country text not null,
  dial_prefix text not null,
  price_micros bigint not null,
  enabled boolean default true not null,
  updated_at timestamp with time zone default now() not null,
  constraint sms_prices_pkey PRIMARY KEY (code),
  constraint sms_prices_code_check CHECK (code ~ '^[A-Z]{2}$'::text),
  constraint sms_prices_dial_prefix_check CHECK (dial_prefix ~ '^\+[0-9]{1,7}$'::text),
  constraint sms_prices_price_micros_check CHECK (price_micros >= 0)
);

create table sms_unmatched_receipts (
  id bigint generated always as identity not null,
  provider text not null,
  provider_message_id text not null,
  state text not null,
  error_code text,
  error_message text,
  received_at timestamp with time zone default now() not null,
  constraint sms_unmatched_receipts_pkey PRIMARY KEY (id),
  constraint sms_unmatched_receipts_state_check CHECK (state = ANY (ARRAY['delivered'::text, 'failed'::text]))
);
CREATE INDEX sms_unmatched_receipts_age ON sms_unmatched_receipts USING btree (received_at);

create unlogged table upstream_outages (
  id bigint generated always as identity not null,
  upstream text not null,
  since timestamp with time zone default now() not null,
  seen_at timestamp with time zone default now() not null,
  constraint upstream_outages_pkey PRIMARY KEY (id),
  constraint upstream_outages_upstream_check CHECK (upstream = ANY (ARRAY['relay'::text, 'carrier'::text]))
);

create table webhook_attempt_counts (
  webhook_id bigint not null,
  hour timestamp with time zone not null,
  duration smallint not null,
  succeeded integer not null,
  failed integer not null,
  constraint webhook_attempt_counts_pkey PRIMARY KEY (webhook_id, hour, duration)
) with (fillfactor=70);
CREATE INDEX webhook_attempt_counts_hour ON webhook_attempt_counts USING btree (hour);

create table webhook_deliveries (
  webhook_id bigint not null,
  id bigint not null,
  event_id text collate "C" not null,
  event text not null,
  status text not null,
  is_test boolean default false not null,
  attempt_count smallint not null,
  attempts jsonb default '[]'::jsonb not null,
  started_at timestamp with time zone,
  duration_ms integer,
  response_code smallint,
  error text,
  response_body bytea,
  retry_after text,
  created_at timestamp with time zone not null,
  completed_at timestamp with time zone default now() not null,
  requeued_as bigint,
  constraint webhook_deliveries_end CHECK (status = ANY (ARRAY['delivered'::text, 'failed'::text, 'skipped'::text]))
) partition by RANGE (completed_at);
CREATE INDEX webhook_deliveries_history ON ONLY webhook_deliveries USING btree (webhook_id, id DESC);
CREATE INDEX webhook_deliveries_recoverable ON ONLY webhook_deliveries USING btree (webhook_id, event_id) INCLUDE (status) WHERE status <> 'delivered'::text AND requeued_as IS NULL AND NOT is_test;
CREATE INDEX webhook_deliveries_unsuccessful ON ONLY webhook_deliveries USING btree (webhook_id, id DESC) WHERE status <> 'delivered'::text;

create table webhook_queue (
  webhook_id bigint not null,
  id bigint default nextval('webhook_delivery_ids'::regclass) not null,
  event_id text collate "C" not null,
  event text not null,
  status text not null,
  is_test boolean default false not null,
  attempt_count smallint default 0 not null,
  attempts jsonb default '[]'::jsonb not null,
  due_at timestamp with time zone default now() not null,
  created_at timestamp with time zone default now() not null,
  recovery_id bigint,
  constraint webhook_queue_status_check CHECK (status = ANY (ARRAY['pending'::text, 'retrying'::text, 'taken'::text]))
) with (autovacuum_vacuum_scale_factor=0.05, autovacuum_analyze_scale_factor=0.05);
CREATE INDEX webhook_queue_pending ON webhook_queue USING btree (webhook_id, id) WHERE status = 'pending'::text;
CREATE INDEX webhook_queue_retrying ON webhook_queue USING btree (webhook_id, due_at, id) WHERE status = 'retrying'::text;
CREATE INDEX webhook_queue_taken ON webhook_queue USING btree (webhook_id, id) WHERE status = 'taken'::text;

create table accepted_bytes (
  account_id bigint not null,
  day date not null,
  bytes bigint not null,
  constraint accepted_bytes_pkey PRIMARY KEY (account_id, day),
  constraint accepted_bytes_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);

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
  rotated_at timestamp with time zone,
  last_used_ip text,
  last_used_endpoint text,
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_key_hash_key UNIQUE (key_hash),
  constraint api_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX api_keys_account ON api_keys USING btree (account_id, id DESC);
CREATE INDEX api_keys_ended ON api_keys USING btree (expires_at) WHERE expires_at IS NOT NULL;

create table audit_entries (
  id bigint generated always as identity not null,
  account_id bigint not null,
  at timestamp with time zone default now() not null,
  actor text not null,
  action text not null,
  target text,
  client_address text,
  data jsonb default '{}'::jsonb not null,
  constraint audit_entries_pkey PRIMARY KEY (id),
  constraint audit_entries_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX audit_entries_account ON audit_entries USING btree (account_id, id DESC);
CREATE INDEX audit_entries_at ON audit_entries USING btree (at);

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
  template_id text,
  track_opens boolean default false not null,
  links text[],
  body_day date,
  html_hash bytea,
  text_hash bytea,
  shard smallint,
  is_small boolean default false not null,
  tags text[] default '{}'::text[] not null,
  metadata jsonb default '{}'::jsonb not null,
  send_at timestamp with time zone,
  headers jsonb,
  accepted_by jsonb,
  resent_as text,
  reschedules jsonb,
  constraint email_batches_pkey PRIMARY KEY (id),
  constraint email_batches_check CHECK ((sent + failed + suppressed + canceled) <= total),
  constraint email_batches_status_check CHECK (status = ANY (ARRAY['scheduled'::text, 'queued'::text, 'processing'::text, 'completed'::text, 'failed'::text, 'canceled'::text])),
  constraint email_batches_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX email_batches_account ON email_batches USING btree (account_id, created_at DESC);
CREATE INDEX email_batches_age ON email_batches USING btree (COALESCE(send_at, created_at)) WHERE completed_at IS NOT NULL;
CREATE INDEX email_batches_open ON email_batches USING btree (account_id, created_at) WHERE completed_at IS NULL AND status <> 'scheduled'::text;
CREATE INDEX email_batches_scheduled ON email_batches USING btree (send_at, id) WHERE status = 'scheduled'::text;
CREATE INDEX email_batches_subjects ON email_batches USING btree (COALESCE(send_at, created_at)) WHERE completed_at IS NOT NULL AND subject <> ''::text;
CREATE INDEX email_batches_texts ON email_batches USING btree (completed_at) WHERE html <> ''::text OR text IS NOT NULL OR body_day IS NOT NULL;

create table email_changes (
  id bigint generated always as identity not null,
  account_id bigint not null,
  old_email text not null,
  new_email text not null,
  token_hash bytea not null,
  requested_at timestamp with time zone default now() not null,
  confirmed_at timestamp with time zone,
  expires_at timestamp with time zone not null,
  constraint email_changes_pkey PRIMARY KEY (id),
  constraint email_changes_token_hash_key UNIQUE (token_hash),
  constraint email_changes_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX email_changes_account ON email_changes USING btree (account_id);
CREATE INDEX email_changes_expires ON email_changes USING btree (expires_at);
CREATE INDEX email_changes_old_email ON email_changes USING btree (lower(old_email));

create table email_clicks (
  message_id bigint not null,
  link smallint not null,
  clicks integer default 0 not null,
  bot_clicks integer default 0 not null,
  clicked_at timestamp with time zone not null,
  constraint email_clicks_pkey PRIMARY KEY (message_id, link),
  constraint email_clicks_message_id_fkey FOREIGN KEY (message_id) REFERENCES email_messages(id) ON DELETE CASCADE
);

create table email_contents (
  id bigint not null,
  account_id bigint not null,
  message_id text not null,
  from_name text,
  reply_to_name text,
  reply_to_address text,
  track_opens boolean default false not null,
  created_at timestamp with time zone default now() not null,
  code_seed text,
  headers jsonb,
  constraint email_contents_pkey PRIMARY KEY (id),
  constraint email_contents_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX email_contents_account ON email_contents USING btree (account_id);
CREATE INDEX email_contents_age ON email_contents USING btree (created_at);

create table email_domains (
  id bigint generated always as identity not null,
  account_id bigint not null,
  domain text not null,
  status text default 'pending'::text not null,
  dkim_private_key bytea,
  dkim_public_key text,
  created_at timestamp with time zone default now() not null,
  last_check jsonb,
  checked_at timestamp with time zone,
  check_until timestamp with time zone,
  next_check_at timestamp with time zone,
  pending_since timestamp with time zone default now() not null,
  failures integer default 0 not null,
  failing_since timestamp with time zone,
  track_opens boolean default false not null,
  track_clicks boolean default false not null,
  constraint email_domains_pkey PRIMARY KEY (id),
  constraint email_domains_account_id_domain_key UNIQUE (account_id, domain),
  constraint email_domains_status_check CHECK (status = ANY (ARRAY['pending'::text, 'verified'::text])),
  constraint email_domains_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX email_domains_domain ON email_domains USING btree (domain);
CREATE INDEX email_domains_due ON email_domains USING btree (next_check_at) WHERE next_check_at IS NOT NULL;
CREATE UNIQUE INDEX email_domains_verified_live ON email_domains USING btree (domain) WHERE status = 'verified'::text AND account_id > 0;

create table email_templates (
  id text not null,
  numeric_id bigint generated always as identity not null,
  account_id bigint not null,
  name text not null,
  subject text not null,
  html text not null,
  text text,
  variables text[] not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint email_templates_pkey PRIMARY KEY (id),
  constraint email_templates_numeric_id_key UNIQUE (numeric_id),
  constraint email_templates_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX email_templates_account ON email_templates USING btree (account_id, numeric_id DESC);

create table failovers (
  id text not null,
  account_id bigint not null,
  phone text,
  email text,
  status text default 'queued'::text not null,
  tags text[] default '{}'::text[] not null,
  metadata jsonb default '{}'::jsonb not null,
  send_at timestamp with time zone,
  due_at timestamp with time zone,
  canceled_at timestamp with time zone,
  completed_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  accepted_by jsonb,
  reschedules jsonb,
  constraint failovers_pkey PRIMARY KEY (id),
  constraint failovers_status_check CHECK (status = ANY (ARRAY['scheduled'::text, 'queued'::text, 'processing'::text, 'sent'::text, 'delivered'::text, 'read'::text, 'failed'::text, 'canceled'::text])),
  constraint failovers_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX failovers_account ON failovers USING btree (account_id, created_at DESC);
CREATE INDEX failovers_age ON failovers USING btree (COALESCE(send_at, created_at)) WHERE completed_at IS NOT NULL;
CREATE INDEX failovers_due ON failovers USING btree (due_at) WHERE due_at IS NOT NULL;

create table message_batches (
  id text not null,
  account_id bigint not null,
  channel text not null,
  status text default 'queued'::text not null,
  total integer not null,
  sent integer default 0 not null,
  failed integer default 0 not null,
  canceled integer default 0 not null,
  created_at timestamp with time zone default now() not null,
  started_at timestamp with time zone,
  completed_at timestamp with time zone,
  tags text[] default '{}'::text[] not null,
  metadata jsonb default '{}'::jsonb not null,
  send_at timestamp with time zone,
  accepted_by jsonb,
  resent_as text,
  reschedules jsonb,
  constraint message_batches_pkey PRIMARY KEY (id),
  constraint message_batches_channel_check CHECK (channel = ANY (ARRAY['whatsapp'::text, 'sms'::text])),
  constraint message_batches_check CHECK ((sent + failed + canceled) <= total),
  constraint message_batches_status_check CHECK (status = ANY (ARRAY['scheduled'::text, 'queued'::text, 'processing'::text, 'completed'::text, 'failed'::text, 'canceled'::text])),
  constraint message_batches_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX message_batches_account ON message_batches USING btree (account_id, created_at DESC);
CREATE INDEX message_batches_age ON message_batches USING btree (COALESCE(send_at, created_at)) WHERE completed_at IS NOT NULL;
CREATE INDEX message_batches_open ON message_batches USING btree (created_at) WHERE completed_at IS NULL;

create table message_stats (
  account_id bigint not null,
  hour timestamp with time zone not null,
  channel text not null,
  outcome text not null,
  reason text not null,
  count bigint not null,
  constraint message_stats_pkey PRIMARY KEY (account_id, hour, channel, outcome, reason),
  constraint message_stats_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
) with (fillfactor=80);
CREATE INDEX message_stats_hour ON message_stats USING btree (hour);

create table messages (
  id bigint generated always as identity not null,
  account_id bigint not null,
  channel text not null,
  session_id bigint,
  direction text not null,
  sender text,
  recipient text not null,
  type text default 'text'::text not null,
  content jsonb not null,
  status text default 'queued'::text not null,
  error_code text,
  error_message text,
  segments smallint,
  cost_micros bigint,
  batch_id text,
  sent_at timestamp with time zone,
  delivered_at timestamp with time zone,
  read_at timestamp with time zone,
  failed_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  tags text[] default '{}'::text[] not null,
  metadata jsonb default '{}'::jsonb not null,
  send_at timestamp with time zone,
  failover_id text,
  accepted_by jsonb,
  reschedules jsonb,
  constraint messages_pkey PRIMARY KEY (id),
  constraint messages_channel_check CHECK (channel = ANY (ARRAY['whatsapp'::text, 'sms'::text])),
  constraint messages_direction_check CHECK (direction = ANY (ARRAY['in'::text, 'out'::text])),
  constraint messages_status_check CHECK (status = ANY (ARRAY['scheduled'::text, 'queued'::text, 'sending'::text, 'sent'::text, 'delivered'::text, 'read'::text, 'failed'::text, 'received'::text, 'canceled'::text])),
  constraint messages_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
) with (fillfactor=80);
CREATE INDEX messages_account ON messages USING btree (account_id, channel, id DESC);
CREATE INDEX messages_batch ON messages USING btree (batch_id, id) WHERE batch_id IS NOT NULL;
CREATE INDEX messages_rare ON messages USING btree (account_id, channel, status, id DESC) WHERE status = ANY (ARRAY['failed'::text, 'canceled'::text]);
CREATE INDEX messages_recipient ON messages USING btree (account_id, channel, recipient, id DESC);
CREATE INDEX messages_scheduled ON messages USING btree (channel, send_at, id) WHERE status = 'scheduled'::text;
CREATE INDEX messages_scheduled_turns ON messages USING btree (channel, account_id, send_at, id) WHERE status = 'scheduled'::text;
CREATE INDEX messages_sender ON messages USING btree (account_id, channel, sender, id DESC) WHERE direction = 'in'::text;
CREATE INDEX messages_session ON messages USING btree (session_id, id DESC) WHERE session_id IS NOT NULL;
CREATE INDEX messages_tags ON messages USING gin (account_tags(account_id, tags)) WHERE tags <> '{}'::text[];
CREATE TRIGGER failover_step_changed AFTER UPDATE OF status ON messages FOR EACH ROW WHEN (new.failover_id IS NOT NULL AND new.status IS DISTINCT FROM old.status) EXECUTE FUNCTION signal_failover();

create table notices (
  id bigint generated always as identity not null,
  account_id bigint not null,
  kind text not null,
  once text,
  subject text not null,
  body text not null,
  status text default 'queued'::text not null,
  attempt_count smallint default 0 not null,
  due_at timestamp with time zone default now(),
  message_id text,
  error text,
  created_at timestamp with time zone default now() not null,
  completed_at timestamp with time zone,
  recipient text,
  doubts smallint default 0 not null,
  lane smallint default 1 not null,
  sealed_body bytea,
  constraint notices_pkey PRIMARY KEY (id),
  constraint notices_status_check CHECK (status = ANY (ARRAY['queued'::text, 'sent'::text, 'failed'::text, 'unwanted'::text])),
  constraint notices_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX notices_account ON notices USING btree (account_id);
CREATE INDEX notices_completed ON notices USING btree (completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX notices_due ON notices USING btree (due_at) WHERE status = 'queued'::text;
CREATE INDEX notices_lanes ON notices USING btree (lane, due_at, id) WHERE status = 'queued'::text;
CREATE UNIQUE INDEX notices_once ON notices USING btree (account_id, kind, once) WHERE once IS NOT NULL;
CREATE INDEX notices_turns ON notices USING btree (lane, account_id, due_at, id) WHERE status = 'queued'::text;

create table password_resets (
  token_hash bytea not null,
  account_id bigint not null,
  created_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  constraint password_resets_pkey PRIMARY KEY (token_hash),
  constraint password_resets_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX password_resets_account ON password_resets USING btree (account_id);
CREATE INDEX password_resets_expires ON password_resets USING btree (expires_at);

create table people (
  id bigint generated always as identity not null,
  account_id bigint,
  name text,
  email text,
  password_hash text,
  locale text,
  timezone text,
  is_operator boolean default false not null,
  last_account_id bigint,
  theme text default 'system'::text not null,
  hour_cycle text default 'language'::text not null,
  has_shortcuts boolean default true not null,
  created_at timestamp with time zone default now() not null,
  last_sign_in_at timestamp with time zone,
  constraint people_pkey PRIMARY KEY (id),
  constraint people_account_id_key UNIQUE (account_id),
  constraint people_check CHECK ((account_id IS NULL) = (email IS NOT NULL)),
  constraint people_hour_cycle_check CHECK (hour_cycle = ANY (ARRAY['language'::text, 'h12'::text, 'h23'::text])),
  constraint people_theme_check CHECK (theme = ANY (ARRAY['system'::text, 'light'::text, 'dark'::text])),
  constraint people_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX people_email ON people USING btree (lower(email));

create table plain_refusals (
  account_id bigint not null,
  email text not null,
  message_id bigint not null,
  refused_at timestamp with time zone default now() not null,
  constraint plain_refusals_pkey PRIMARY KEY (account_id, email, message_id),
  constraint plain_refusals_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX plain_refusals_age ON plain_refusals USING btree (refused_at);

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
CREATE INDEX suppressions_newest ON suppressions USING btree (account_id, created_at DESC, email);

create table usage_alerts (
  account_id bigint not null,
  month date not null,
  metric text not null,
  kind text not null,
  told_at timestamp with time zone default now() not null,
  told_limit bigint,
  constraint usage_alerts_pkey PRIMARY KEY (account_id, month, metric, kind),
  constraint usage_alerts_kind_check CHECK (kind = ANY (ARRAY['warning'::text, 'reached'::text, 'high_volume'::text])),
  constraint usage_alerts_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);

create table usage_daily (
  account_id bigint not null,
  day date not null,
  metric text not null,
  slot smallint not null,
  count bigint not null,
  cost_micros bigint not null,
  constraint usage_daily_pkey PRIMARY KEY (account_id, day, metric, slot),
  constraint usage_daily_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
) with (fillfactor=60);
CREATE INDEX usage_daily_day ON usage_daily USING btree (day);

create table verification_blocks (
  account_id bigint not null,
  prefix text not null,
  until timestamp with time zone not null,
  released_at timestamp with time zone,
  constraint verification_blocks_pkey PRIMARY KEY (account_id, prefix),
  constraint verification_blocks_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX verification_blocks_age ON verification_blocks USING btree (until);

create table verifications (
  id text not null,
  account_id bigint not null,
  recipient text not null,
  channel text not null,
  status text default 'pending'::text not null,
  attempts smallint default 0 not null,
  sends smallint default 0 not null,
  code_seed text not null,
  message_id bigint,
  channels_left text[] default '{}'::text[] not null,
  brand_name text,
  locale text not null,
  web_domain text,
  session_id bigint,
  expires_at timestamp with time zone not null,
  verified_at timestamp with time zone,
  ended_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  accepted_by jsonb,
  messages jsonb default '[]'::jsonb not null,
  handed_at timestamp with time zone,
  country text,
  cost_micros bigint default 0 not null,
  constraint verifications_pkey PRIMARY KEY (id),
  constraint verifications_channel_check CHECK (channel = ANY (ARRAY['sms'::text, 'whatsapp'::text, 'email'::text])),
  constraint verifications_status_check CHECK (status = ANY (ARRAY['pending'::text, 'approved'::text, 'expired'::text, 'max_attempts'::text])),
  constraint verifications_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX verifications_account ON verifications USING btree (account_id, created_at DESC, id DESC);
CREATE INDEX verifications_automatic ON verifications USING btree (id) WHERE status = 'pending'::text AND channels_left <> '{}'::text[];
CREATE INDEX verifications_ended ON verifications USING btree (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX verifications_open ON verifications USING btree (expires_at) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX verifications_pending ON verifications USING btree (account_id, lower(recipient)) WHERE status = 'pending'::text;
CREATE INDEX verifications_recipient ON verifications USING btree (account_id, lower(recipient), created_at DESC);

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
  failing_since timestamp with time zone,
  unhealthy_reason text,
  previous_secret bytea,
  previous_secret_until timestamp with time zone,
  retry_policy text default 'standard'::text not null,
  channels text[] default '{}'::text[] not null,
  tags text[] default '{}'::text[] not null,
  headers bytea,
  header_names text[] default '{}'::text[] not null,
  constraint webhooks_pkey PRIMARY KEY (id),
  constraint webhooks_previous_secret CHECK ((previous_secret IS NULL) = (previous_secret_until IS NULL)),
  constraint webhooks_retry_policy_check CHECK (retry_policy = ANY (ARRAY['standard'::text, 'extended'::text])),
  constraint webhooks_unhealthy_reason_check CHECK (unhealthy_reason = ANY (ARRAY['failing'::text, 'gone'::text, 'backlog_full'::text])),
  constraint webhooks_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX webhooks_account ON webhooks USING btree (account_id, id DESC);
CREATE INDEX webhooks_backlog_full ON webhooks USING btree (id) WHERE unhealthy_reason = 'backlog_full'::text;
CREATE INDEX webhooks_previous_secret_until ON webhooks USING btree (previous_secret_until) WHERE previous_secret IS NOT NULL;
CREATE INDEX webhooks_unhealthy ON webhooks USING btree (unhealthy_reason) WHERE unhealthy_reason IS NOT NULL;

create table whatsapp_files (
  id bigint generated always as identity not null,
  account_id bigint not null,
  content bytea not null,
  created_at timestamp with time zone default now() not null,
  constraint whatsapp_files_pkey PRIMARY KEY (id),
  constraint whatsapp_files_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX whatsapp_files_account ON whatsapp_files USING btree (account_id);
CREATE INDEX whatsapp_files_age ON whatsapp_files USING btree (created_at);

create table whatsapp_sessions (
  id bigint generated always as identity not null,
  account_id bigint not null,
  session_key text not null,
  name text not null,
  status text default 'pending'::text not null,
  desired text default 'on'::text not null,
  is_confirmed boolean default false not null,
  is_paired boolean default false not null,
  is_replaced boolean default false not null,
  phone_number text,
  reason text,
  failures integer default 0 not null,
  retry_at timestamp with time zone,
  epoch bigint default 0 not null,
  data_key bytea not null,
  connected_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  pairing integer default 1 not null,
  status_since timestamp with time zone default now() not null,
  constraint whatsapp_sessions_pkey PRIMARY KEY (id),
  constraint whatsapp_sessions_session_key_key UNIQUE (session_key),
  constraint whatsapp_sessions_desired_check CHECK (desired = ANY (ARRAY['on'::text, 'off'::text, 'removed'::text])),
  constraint whatsapp_sessions_status_check CHECK (status = ANY (ARRAY['pending'::text, 'connected'::text, 'disconnected'::text, 'failed'::text])),
  constraint whatsapp_sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
) with (fillfactor=80);
CREATE INDEX whatsapp_sessions_account ON whatsapp_sessions USING btree (account_id, id DESC);
CREATE INDEX whatsapp_sessions_retry ON whatsapp_sessions USING btree (retry_at) WHERE retry_at IS NOT NULL;
CREATE TRIGGER session_state_began AFTER INSERT ON whatsapp_sessions FOR EACH ROW EXECUTE FUNCTION note_session_state();
CREATE TRIGGER session_state_changed AFTER UPDATE OF status, reason ON whatsapp_sessions FOR EACH ROW WHEN (new.status IS DISTINCT FROM old.status OR new.reason IS DISTINCT FROM old.reason) EXECUTE FUNCTION note_session_state();

create table api_key_requests (
  key_id bigint not null,
  day date not null,
  succeeded bigint not null,
  refused bigint not null,
  failed bigint not null,
  constraint api_key_requests_pkey PRIMARY KEY (key_id, day),
  constraint api_key_requests_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(id) ON DELETE CASCADE
) with (fillfactor=70);
CREATE INDEX api_key_requests_day ON api_key_requests USING btree (day);

create table authenticators (
  person_id bigint not null,
  seed bytea not null,
  confirmed_at timestamp with time zone,
  last_step bigint default 0 not null,
  constraint authenticators_pkey PRIMARY KEY (person_id),
  constraint authenticators_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(id) ON DELETE CASCADE
);

create table email_parts (
  email_id bigint not null,
  "position" smallint not null,
  kind text not null,
  filename text,
  content_type text,
  content bytea,
  body_day date,
  body_hash bytea,
  constraint email_parts_pkey PRIMARY KEY (email_id, "position"),
  constraint email_parts_check CHECK (content IS NOT NULL OR body_hash IS NOT NULL),
  constraint email_parts_kind_check CHECK (kind = ANY (ARRAY['html'::text, 'text'::text, 'attachment'::text])),
  constraint email_parts_email_id_fkey FOREIGN KEY (email_id) REFERENCES email_contents(id) ON DELETE CASCADE
);

create table email_template_versions (
  id bigint generated always as identity not null,
  account_id bigint not null,
  template_id text not null,
  subject text not null,
  html text not null,
  text text,
  created_at timestamp with time zone default clock_timestamp() not null,
  constraint email_template_versions_pkey PRIMARY KEY (id),
  constraint email_template_versions_template_id_fkey FOREIGN KEY (template_id) REFERENCES email_templates(id) ON DELETE CASCADE
);
CREATE INDEX email_template_versions_account ON email_template_versions USING btree (account_id);
CREATE INDEX email_template_versions_template ON email_template_versions USING btree (template_id, id DESC);

create table failover_steps (
  failover_id text not null,
  "position" smallint not null,
  account_id bigint not null,
  channel text not null,
  recipient text not null,
  until text not null,
  within_seconds integer not null,
  request jsonb,
  begun_at timestamp with time zone,
  message_id bigint,
  error text,
  constraint failover_steps_pkey PRIMARY KEY (failover_id, "position"),
  constraint failover_steps_channel_check CHECK (channel = ANY (ARRAY['whatsapp'::text, 'sms'::text, 'email'::text])),
  constraint failover_steps_until_check CHECK (until = ANY (ARRAY['sent'::text, 'delivered'::text, 'read'::text])),
  constraint failover_steps_failover_id_fkey FOREIGN KEY (failover_id) REFERENCES failovers(id) ON DELETE CASCADE
);
CREATE INDEX failover_steps_account ON failover_steps USING btree (account_id);

create table login_sessions (
  token_hash bytea not null,
  account_id bigint,
  created_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone not null,
  id bigint generated always as identity not null,
  last_used_at timestamp with time zone,
  client_address text,
  user_agent text,
  person_id bigint,
  methods text[] default '{}'::text[] not null,
  proved_at timestamp with time zone,
  renewed_at timestamp with time zone,
  previous_hash bytea,
  previous_until timestamp with time zone,
  constraint login_sessions_pkey PRIMARY KEY (token_hash),
  constraint login_sessions_owner CHECK ((account_id IS NULL) <> (person_id IS NULL)),
  constraint login_sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
  constraint login_sessions_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(id) ON DELETE CASCADE
);
CREATE INDEX login_sessions_account ON login_sessions USING btree (account_id);
CREATE UNIQUE INDEX login_sessions_id ON login_sessions USING btree (id);
CREATE INDEX login_sessions_person ON login_sessions USING btree (person_id) WHERE person_id IS NOT NULL;
CREATE INDEX login_sessions_previous ON login_sessions USING btree (previous_hash) WHERE previous_hash IS NOT NULL;

create table memberships (
  account_id bigint not null,
  person_id bigint not null,
  role text not null,
  created_at timestamp with time zone default now() not null,
  constraint memberships_pkey PRIMARY KEY (account_id, person_id),
  constraint memberships_role_check CHECK (role = ANY (ARRAY['owner'::text, 'admin'::text, 'developer'::text, 'support'::text])),
  constraint memberships_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
  constraint memberships_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(id) ON DELETE CASCADE
);
CREATE INDEX memberships_person ON memberships USING btree (person_id);

create table passkey_challenges (
  challenge bytea not null,
  person_id bigint,
  expires_at timestamp with time zone not null,
  constraint passkey_challenges_pkey PRIMARY KEY (challenge),
  constraint passkey_challenges_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(id) ON DELETE CASCADE
);
CREATE INDEX passkey_challenges_person ON passkey_challenges USING btree (person_id);

create table passkeys (
  id bigint generated always as identity not null,
  person_id bigint not null,
  credential_id bytea not null,
  public_key bytea not null,
  counter bigint not null,
  transports text[] default '{}'::text[] not null,
  name text not null,
  created_at timestamp with time zone default now() not null,
  last_used_at timestamp with time zone,
  constraint passkeys_pkey PRIMARY KEY (id),
  constraint passkeys_credential_id_key UNIQUE (credential_id),
  constraint passkeys_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(id) ON DELETE CASCADE
);
CREATE INDEX passkeys_person ON passkeys USING btree (person_id);

create table recovery_codes (
  person_id bigint not null,
  code_hash bytea not null,
  constraint recovery_codes_pkey PRIMARY KEY (person_id, code_hash),
  constraint recovery_codes_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(id) ON DELETE CASCADE
);

create table sms_parts (
  message_id bigint not null,
  part_no smallint not null,
  parts smallint not null,
  encoding text not null,
  body text not null,
  lane smallint not null,
  status text default 'queued'::text not null,
  attempt_count smallint default 0 not null,
  doubts smallint default 0 not null,
  due_at timestamp with time zone default now(),
  provider text,
  provider_message_id text,
  error_code text,
  error_message text,
  sent_at timestamp with time zone,
  completed_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  code_seed text,
  account_id bigint default 0 not null,
  claims integer default 0 not null,
  constraint sms_parts_pkey PRIMARY KEY (message_id, part_no),
  constraint sms_parts_encoding_check CHECK (encoding = ANY (ARRAY['gsm7'::text, 'ucs2'::text])),
  constraint sms_parts_status_check CHECK (status = ANY (ARRAY['queued'::text, 'sending'::text, 'sent'::text, 'delivered'::text, 'failed'::text])),
  constraint sms_parts_message_id_fkey FOREIGN KEY (message_id) REFERENCES messages(id) ON DELETE CASCADE
) with (fillfactor=80);
CREATE INDEX sms_parts_codes ON sms_parts USING btree (due_at, message_id, part_no) WHERE status = 'queued'::text AND code_seed IS NOT NULL;
CREATE INDEX sms_parts_due ON sms_parts USING btree (lane, due_at, message_id, part_no) WHERE status = 'queued'::text;
CREATE INDEX sms_parts_receipts ON sms_parts USING btree (provider_message_id, provider) WHERE status = 'sent'::text;
CREATE INDEX sms_parts_sending ON sms_parts USING btree (due_at) WHERE status = 'sending'::text;
CREATE INDEX sms_parts_test ON sms_parts USING btree ((
CASE
    WHEN code_seed IS NOT NULL THEN 0
    ELSE lane + 1
END), account_id, due_at, message_id, part_no) WHERE status = 'queued'::text AND account_id < 0;
CREATE INDEX sms_parts_turns ON sms_parts USING btree ((
CASE
    WHEN code_seed IS NOT NULL THEN 0
    ELSE lane + 1
END), account_id, due_at, message_id, part_no) WHERE status = 'queued'::text;

create table verification_sends (
  id bigint generated always as identity not null,
  verification_id text not null,
  account_id bigint not null,
  recipient text not null,
  prefix text,
  client_network inet,
  created_at timestamp with time zone default now() not null,
  constraint verification_sends_pkey PRIMARY KEY (id),
  constraint verification_sends_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
  constraint verification_sends_verification_id_fkey FOREIGN KEY (verification_id) REFERENCES verifications(id) ON DELETE CASCADE
);
CREATE INDEX verification_sends_age ON verification_sends USING btree (created_at);
CREATE INDEX verification_sends_all_accounts ON verification_sends USING btree (recipient, created_at);
CREATE INDEX verification_sends_network ON verification_sends USING btree (account_id, client_network, created_at) WHERE client_network IS NOT NULL;
CREATE INDEX verification_sends_prefix ON verification_sends USING btree (account_id, prefix, created_at) WHERE prefix IS NOT NULL;
CREATE INDEX verification_sends_recipient ON verification_sends USING btree (account_id, recipient, created_at);
CREATE INDEX verification_sends_verification ON verification_sends USING btree (verification_id);

create table webhook_recoveries (
  id bigint generated always as identity not null,
  webhook_id bigint not null,
  since timestamp with time zone not null,
  until timestamp with time zone not null,
  statuses text[] not null,
  "position" text collate "C" not null,
  ends_at text collate "C" not null,
  counted_to text collate "C",
  total bigint default 0 not null,
  queued bigint default 0 not null,
  delivered bigint default 0 not null,
  failed bigint default 0 not null,
  is_queued boolean default false not null,
  is_canceled boolean default false not null,
  moved_at timestamp with time zone default now() not null,
  created_at timestamp with time zone default now() not null,
  completed_at timestamp with time zone,
  event text,
  response_code text,
  constraint webhook_recoveries_pkey PRIMARY KEY (id),
  constraint webhook_recoveries_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhooks(id) ON DELETE CASCADE
);
CREATE INDEX webhook_recoveries_completed ON webhook_recoveries USING btree (completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX webhook_recoveries_list ON webhook_recoveries USING btree (webhook_id, id DESC);
CREATE INDEX webhook_recoveries_queueing ON webhook_recoveries USING btree (webhook_id) WHERE completed_at IS NULL AND NOT is_queued;
CREATE UNIQUE INDEX webhook_recoveries_running ON webhook_recoveries USING btree (webhook_id) WHERE completed_at IS NULL;

create table whatsapp_contacts (
  id bigint generated always as identity not null,
  session_id bigint not null,
  lid text,
  phone text,
  name text,
  is_named boolean default false not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint whatsapp_contacts_pkey PRIMARY KEY (id),
  constraint whatsapp_contacts_check CHECK (lid IS NOT NULL OR phone IS NOT NULL),
  constraint whatsapp_contacts_session_id_fkey FOREIGN KEY (session_id) REFERENCES whatsapp_sessions(id) ON DELETE CASCADE
) with (fillfactor=80);
CREATE UNIQUE INDEX whatsapp_contacts_lid ON whatsapp_contacts USING btree (session_id, lid) WHERE lid IS NOT NULL;
CREATE INDEX whatsapp_contacts_newest ON whatsapp_contacts USING btree (session_id, id DESC);
CREATE UNIQUE INDEX whatsapp_contacts_phone ON whatsapp_contacts USING btree (session_id, phone) WHERE phone IS NOT NULL;

create table whatsapp_groups (
  id bigint generated always as identity not null,
  session_id bigint not null,
  jid text not null,
  name text default ''::text not null,
  description text,
  addressing text default 'lid'::text not null,
  ephemeral_seconds integer,
  invite_code text,
  is_member boolean default true not null,
  known_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  constraint whatsapp_groups_pkey PRIMARY KEY (id),
  constraint whatsapp_groups_session_id_jid_key UNIQUE (session_id, jid),
  constraint whatsapp_groups_addressing_check CHECK (addressing = ANY (ARRAY['lid'::text, 'pn'::text])),
  constraint whatsapp_groups_session_id_fkey FOREIGN KEY (session_id) REFERENCES whatsapp_sessions(id) ON DELETE CASCADE
) with (fillfactor=80);

create table whatsapp_inbox (
  id bigint generated always as identity not null,
  session_id bigint not null,
  kind text not null,
  chat text not null,
  whatsapp_id text not null,
  author text,
  payload bytea,
  message_id bigint,
  received_at timestamp with time zone default now() not null,
  done_at timestamp with time zone,
  constraint whatsapp_inbox_pkey PRIMARY KEY (id),
  constraint whatsapp_inbox_session_id_chat_whatsapp_id_key UNIQUE (session_id, chat, whatsapp_id),
  constraint whatsapp_inbox_kind_check CHECK (kind = ANY (ARRAY['message'::text, 'group'::text])),
  constraint whatsapp_inbox_message_id_fkey FOREIGN KEY (message_id) REFERENCES messages(id) ON DELETE CASCADE,
  constraint whatsapp_inbox_session_id_fkey FOREIGN KEY (session_id) REFERENCES whatsapp_sessions(id) ON DELETE CASCADE
) with (fillfactor=80);
CREATE INDEX whatsapp_inbox_dropped ON whatsapp_inbox USING btree (done_at) WHERE message_id IS NULL;
CREATE UNIQUE INDEX whatsapp_inbox_message ON whatsapp_inbox USING btree (message_id) WHERE message_id IS NOT NULL;
CREATE INDEX whatsapp_inbox_pending ON whatsapp_inbox USING btree (session_id, id) WHERE done_at IS NULL;

create table whatsapp_keys (
  session_id bigint not null,
  type text not null,
  key text not null,
  value bytea not null,
  constraint whatsapp_keys_pkey PRIMARY KEY (session_id, type, key),
  constraint whatsapp_keys_session_id_fkey FOREIGN KEY (session_id) REFERENCES whatsapp_sessions(id) ON DELETE CASCADE
) with (fillfactor=80);

create table whatsapp_message_counts (
  session_id bigint not null,
  messages_count bigint not null,
  constraint whatsapp_message_counts_pkey PRIMARY KEY (session_id),
  constraint whatsapp_message_counts_session_id_fkey FOREIGN KEY (session_id) REFERENCES whatsapp_sessions(id) ON DELETE CASCADE
) with (fillfactor=50);

create table whatsapp_number_checks (
  session_id bigint not null,
  phone text not null,
  whatsapp_id text,
  checked_at timestamp with time zone default now() not null,
  constraint whatsapp_number_checks_pkey PRIMARY KEY (session_id, phone),
  constraint whatsapp_number_checks_session_id_fkey FOREIGN KEY (session_id) REFERENCES whatsapp_sessions(id) ON DELETE CASCADE
);

create table whatsapp_outbox (
  message_id bigint not null,
  session_id bigint not null,
  whatsapp_id text not null,
  lane smallint not null,
  delay_ms integer default 0 not null,
  file_id bigint,
  status text default 'queued'::text not null,
  attempt_count smallint default 0 not null,
  due_at timestamp with time zone default now() not null,
  chat text,
  body bytea,
  written_at timestamp with time zone,
  code_seed text,
  pairing integer default 1 not null,
  needs_file boolean default true not null,
  constraint whatsapp_outbox_pkey PRIMARY KEY (message_id),
  constraint whatsapp_outbox_session_id_whatsapp_id_key UNIQUE (session_id, whatsapp_id),
  constraint whatsapp_outbox_status_check CHECK (status = ANY (ARRAY['scheduled'::text, 'queued'::text, 'written'::text, 'sent'::text, 'delivered'::text, 'read'::text, 'failed'::text])),
  constraint whatsapp_outbox_file_id_fkey FOREIGN KEY (file_id) REFERENCES whatsapp_files(id) ON DELETE SET NULL,
  constraint whatsapp_outbox_message_id_fkey FOREIGN KEY (message_id) REFERENCES messages(id) ON DELETE CASCADE
) with (fillfactor=80);
CREATE INDEX whatsapp_outbox_bodies ON whatsapp_outbox USING btree (written_at) WHERE body IS NOT NULL;
CREATE INDEX whatsapp_outbox_codes ON whatsapp_outbox USING btree (session_id, message_id) WHERE status = 'queued'::text AND code_seed IS NOT NULL;
CREATE INDEX whatsapp_outbox_files ON whatsapp_outbox USING btree (file_id) WHERE file_id IS NOT NULL;
CREATE INDEX whatsapp_outbox_pace ON whatsapp_outbox USING btree (session_id, written_at) WHERE written_at IS NOT NULL;
CREATE INDEX whatsapp_outbox_queued ON whatsapp_outbox USING btree (session_id, lane, message_id) WHERE status = 'queued'::text;
CREATE INDEX whatsapp_outbox_uploads ON whatsapp_outbox USING btree (session_id, lane, message_id) WHERE status = 'queued'::text AND needs_file;
CREATE INDEX whatsapp_outbox_written ON whatsapp_outbox USING btree (session_id, message_id) WHERE status = 'written'::text;

create table whatsapp_session_states (
  session_id bigint not null,
  since timestamp with time zone default now() not null,
  status text not null,
  reason text,
  constraint whatsapp_session_states_session_id_fkey FOREIGN KEY (session_id) REFERENCES whatsapp_sessions(id) ON DELETE CASCADE
);
CREATE INDEX whatsapp_session_states_age ON whatsapp_session_states USING btree (since);
CREATE INDEX whatsapp_session_states_newest ON whatsapp_session_states USING btree (session_id, since DESC);

create table whatsapp_group_participants (
  group_id bigint not null,
  jid text not null,
  phone text,
  role text not null,
  constraint whatsapp_group_participants_pkey PRIMARY KEY (group_id, jid),
  constraint whatsapp_group_participants_role_check CHECK (role = ANY (ARRAY['member'::text, 'admin'::text, 'superadmin'::text])),
  constraint whatsapp_group_participants_group_id_fkey FOREIGN KEY (group_id) REFERENCES whatsapp_groups(id) ON DELETE CASCADE
);

do $$
declare
  today timestamptz := date_trunc('day', now(), 'UTC');
  yesterday text := to_char(today at time zone 'UTC' - interval '1 day', '_YYYYMMDD');
begin
  execute format('create table %I partition of events for values from (minvalue) to (%L)',
    'events' || yesterday, 'evt_' || ulid_time(today));
  execute format('create table %I partition of webhook_deliveries for values from (minvalue) to (%L)',
    'webhook_deliveries' || yesterday, today);
  perform make_day_partitions((today at time zone 'UTC')::date - 1, (today at time zone 'UTC')::date + 1);
end $$;

insert into message_search_progress (name, id) values ('email_messages', '0');
insert into message_search_progress (name, id) values ('messages', '0');
insert into retention_clock (only_row, at) values ('true', now());
insert into retention_marks (at, email_messages, messages) values (now(), '0', '0');

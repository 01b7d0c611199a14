interface Allowed {
  readonly because: string
  /** Those whose rows are touched without their account; every one if absent. */
  readonly tables?: ReadonlyArray<string>
  /** A part of each statement, with `$` for a value. */
  readonly statements: ReadonlyArray<string>
}

/**
 * Statements on rows of accounts that may name no account, and why that is right. A request reads and writes by its
 * account; add a statement here only if it has no account to name.
 */
export const allowed: ReadonlyArray<Allowed> = [
  {
    because: "a secret that only its holder knows names the row",
    tables: ["api_keys", "email_changes", "login_sessions", "password_resets"],
    statements: [
      "update password_resets set used_at = now() where token_hash = $",
      "select k.id as key_id, s.id as session_id, a.id as account_id",
      "with used_sessions as (update login_sessions set last_used_at = now() where id = any($)",
      "update email_changes set confirmed_at = now(), token_hash = $"
    ]
  },
  {
    because: "requests are counted for the keys that their callers had",
    tables: ["api_keys"],
    statements: ["insert into api_key_requests as c (key_id, day, succeeded, refused, failed) select k.id"]
  },
  {
    because: "a person signs in, who may have roles in several accounts",
    tables: ["accounts", "login_sessions", "memberships", "people"],
    statements: [
      "select exists (select from people where is_operator)",
      "update people set is_operator = $",
      "update people set last_account_id = $",
      "where p.id = $ and a.deleted_at is null",
      "id, password_hash from people where lower(email) = $",
      "insert into login_sessions (token_hash, person_id,",
      "delete from login_sessions where id in (select id from login_sessions where person_id = $",
      "delete from login_sessions where id = $ and person_id = $",
      "select id from people where account_id = $",
      "s.client_address, s.user_agent, s.methods",
      "from memberships m join people p on p.id = m.person_id",
      "delete from login_sessions where person_id = $ and id is distinct from $",
      "proved_at = now() where id = $ and person_id is not null",
      "select p.id from people p where p.account_id = $",
      "update people p set name = $",
      "update accounts set locale = $, timezone = $ where id = (select account_id from people where id = $",
      "as password_hash from",
      "exists (select from accounts where password_hash is not null",
      "select s.id as sign_in_id",
      "update login_sessions set last_used_at = now() where id = $ and person_id is not null",
      "update login_sessions set token_hash = $, previous_hash = token_hash"
    ]
  },
  {
    because: "the scope names the caller",
    tables: ["idempotency_records"],
    statements: [
      "select fingerprint, status, headers, body from idempotency_records where scope = $",
      "on conflict (scope, key) do update set fingerprint = excluded.fingerprint"
    ]
  },
  {
    because: "an address or a verified domain belongs to one account among all",
    tables: ["email_changes", "email_domains"],
    statements: [
      "select from email_changes where lower(old_email) = lower($) and",
      "exists (select from email_domains o where o.domain = d.domain",
      "select account_id, dkim_private_key from email_domains where domain = $",
      "select last_check from email_domains where domain = $",
      "select exists (select $ from email_domains where domain = $",
      "next_check_at = now() + interval $ where domain = $"
    ]
  },
  {
    because: "the metrics count the rows of all accounts together",
    tables: ["email_messages", "notices", "sms_parts", "webhooks", "whatsapp_sessions"],
    statements: ["select $ as kind, $ as label, count(*) as count"]
  },
  {
    because: "the pages of the sandbox show the operator all that it took",
    tables: ["sandbox_mails", "sandbox_sms"],
    statements: [
      "from (select distinct on (message_id, part_no) * from sandbox_sms where",
      "delete from sandbox_sms where message_id in (select message_id from (select * from (select message_id, min(sender)",
      "select exists (select from sandbox_sms where message_id",
      "select id, state from sandbox_sms where receipt_due_at <= now()",
      "update sandbox_sms set receipt_due_at = $ where id = any($)",
      "delete from sandbox_sms where id <= (select max(id)",
      "count(*) filter (where read_at is null) as unread from sandbox_mails where",
      "received_at, read_at is not null as read, attachment_count",
      "envelope_from, raw from sandbox_mails where id = $",
      "delete from sandbox_mails where",
      "update sandbox_mails set read_at = now() where"
    ]
  },
  {
    because: "the task of a cluster finds what is due in every account",
    tables: [
      "account_erasures",
      "email_batches",
      "email_contents",
      "email_domains",
      "email_messages",
      "events",
      "message_attempts",
      "message_stat_entries",
      "message_batches",
      "messages",
      "notices",
      "removed_webhooks",
      "sms_parts",
      "usage_daily",
      "verification_sends",
      "verifications",
      "webhooks",
      "whatsapp_sessions"
    ],
    statements: [
      "with moved as (delete from message_stat_entries",
      "update email_messages m set status = $, due_at = now(), claims = m.claims + $ from chosen where m.id = chosen.id",
      "with recursive firsts as (",
      "select queue, extract($ from at - clock_timestamp())",
      "changed as (update email_messages m set status = $",
      "judged as (select m.id,",
      "with turns as (select id, row_number() over (partition by account_id order by send_at, id)",
      "select account_id from account_erasures where next_at <= now()",
      "update email_domains set check_until = clock_timestamp() +",
      "next_check_at <= now() and",
      "with used as (select account_id, metric, sum(count)::bigint as used from usage_daily",
      "::date as day, $ as metric, count(*) as count, $ as cost from email_messages",
      "with recent as (select s.account_id, s.prefix, v.id, v.status",
      "from verifications where ended_at is null and expires_at <= now() order by expires_at",
      "update verifications v set status = e.status, ended_at = now()",
      "from verifications where status = $ and channels_left <> $ and expires_at > now()",
      "fetch first ($) rows with ties), gone as (delete from",
      "insert into retention_marks (at, email_messages, messages)",
      "update email_messages set variables = $, subject = $ where id in (select id from ended)",
      "update messages set content = $ where id in (select id from ended)",
      "from (select * from email_messages m where $ and m.id > $ order by m.id limit $) m",
      "$) as recipients from (select * from messages m where $ and m.id > $ order by m.id limit $) m",
      "select webhook_id from removed_webhooks",
      "delete from removed_webhooks where removed_at <",
      "least(((select min(created_at) from email_contents)",
      "select id, case when is_waiting then $ when is_orphaned then $",
      "with recursive accounts as ((select account_id from email_batches where completed_at is null",
      "with orphaned as (select id from email_messages where batch_id is null and status = $",
      "with orphaned as (select message_id, part_no from sms_parts where status = $",
      "select message_id from sms_parts where status = $ and due_at <= now()",
      "join whatsapp_sessions s using (id) where exists (select from whatsapp_outbox o",
      "select o.session_id, o.whatsapp_id, s.id is null as is_gone from (select",
      "select id from whatsapp_sessions where (desired = $ and updated_at < now()",
      "update whatsapp_sessions set retry_at = now()",
      "select id from whatsapp_sessions where desired = $"
    ]
  },
  {
    because: "retention deletes what has expired in every account, a portion at a time",
    statements: ["ctid = any(array(select ctid from"]
  },
  {
    because: "the sandbox's page shows the operator the sessions of every account that wait for a scan",
    tables: ["whatsapp_sessions"],
    statements: ["select id, account_id, name, status from whatsapp_sessions where"]
  },
  {
    because: "a command of the operator ends what was queued before a restore, in every account",
    tables: [
      "email_batches",
      "email_messages",
      "message_batches",
      "messages",
      "notices",
      "sms_parts",
      "verifications",
      "whatsapp_sessions"
    ],
    statements: [
      "returning batch_id), counted as (update email_batches b set canceled = b.canceled + e.count",
      "with ended as (update messages set status = $, error_code = $, error_message = $, failed_at = now()",
      "with requests as (delete from password_reset_requests), ended as (update notices set status = $",
      "with ended as (update verifications set status = $, ended_at = now(), channels_left = $ where status = $",
      "with ended as (update whatsapp_sessions set desired = $, status = $"
    ]
  },
  {
    because: "a command of the operator seals the secrets of every account with the new main key",
    statements: [
      "::text as key, jsonb_build_array(",
      "select count(*) as left from",
      "= v.fresh from (select"
    ]
  },
  {
    because: "a sender acts on the ids of its claim, which are of every account",
    tables: [
      "email_batches",
      "email_contents",
      "email_messages",
      "message_batches",
      "messages",
      "notices",
      "sms_parts"
    ],
    statements: [
      "is_wanted from chosen join notices n on n.id = chosen.id",
      "update notices set status = $, attempt_count = $, error = $",
      "select id, attempt_count, due_at from notices where id = any($) and status = $",
      "update email_messages m set status = $, due_at = $ from unnest($)",
      "with mine as (select m.id from email_messages m, unnest($) as t",
      "update email_messages m set status = $, due_at = now() from unnest($)",
      "from email_contents c join email_messages m on",
      "with outcome as (select *, measured + (statement_timestamp() - $::timestamptz) as at from unnest($::timestamptz[], $)",
      "from chosen c where p.message_id = c.message_id and p.part_no = c.part_no",
      "with mine as (select p.message_id, p.part_no from sms_parts p, unnest($)",
      "update sms_parts p set status = $, due_at = now() from unnest($)",
      "update sms_parts p set status = o.status, attempt_count = o.attempts, doubts = o.doubts",
      "select message_id, count(*) as parts, count(*) filter (where status in ($)) as sent",
      "select clock_timestamp() as now, id, account_id, recipient, type, status, batch_id",
      "select m.id from messages m join message_batches b on b.id = m.batch_id where m.id = any($)",
      "with step as (select * from unnest($::timestamptz[], $) as t (id, status, at, error_code, error_message)) update messages m",
      "update sms_parts set status = $, error_code = $, completed_at = now() where message_id = any($)",
      "update sms_parts set status = $, error_code = $, error_message = $, completed_at = now() where message_id = any($)",
      "with step as (select * from unnest($) as t (id, sent, failed, canceled)), locked"
    ]
  },
  {
    because: "a carrier's receipt has its id only",
    tables: ["sms_parts"],
    statements: [
      "select (select p.message_id from sms_parts p where p.provider = r.provider",
      "update sms_parts p set status = r.state, error_code = r.error_code",
      "with matched as (select u.id from sms_unmatched_receipts u where exists (select from sms_parts p"
    ]
  },
  {
    because: "the actor of a batch acts on the id of its batch",
    tables: ["email_batches", "email_messages"],
    statements: [
      "with back as (update email_messages set attempt_count = attempt_count + $, due_at = $",
      "from email_batches b cross join lateral (select m.id, m.batch_id from email_messages m",
      "select exists (select from email_batches where id = $ and completed_at is null) as is_open",
      "update email_batches set completed_at = now(), status = case when status = $ or canceled = total"
    ]
  },
  {
    because: "the actor of a webhook acts on the ids of its webhook and of its deliveries",
    tables: ["events", "webhooks"],
    statements: [
      "update webhooks set failure_count = $, failing_since = $ where id = any($)",
      "from webhooks w join unnest($) as h (id",
      "with first as (select ctid from webhook_queue where webhook_id = $",
      "insert into webhook_attempt_counts as c (webhook_id, hour, duration, succeeded, failed) select w.id",
      "with unhealthy as (select from webhooks where id = $",
      "select id, account_id, url, secret, is_active, unhealthy_reason, retry_policy, headers, case when",
      "update webhooks set unhealthy_reason = $ where id = $ and is_active",
      "update webhooks set unhealthy_reason = $ where id = $",
      "select account_id, url, failure_count, failing_since, now() as unhealthy_since from webhooks where id = $",
      "update webhooks set failure_count = $, failing_since = $ where id = $"
    ]
  },
  {
    because: "the actor of a WhatsApp session acts on the id of its session, under its epoch",
    tables: ["messages", "whatsapp_files", "whatsapp_sessions"],
    statements: [
      "select data_key from whatsapp_sessions where id = $ and epoch = $",
      "with owned as (select w.position, s.id from unnest($) as w (position, id, epoch) join whatsapp_sessions s",
      "select id, $ from whatsapp_sessions where id = $ on conflict (session_id, phone) do update",
      "select account_id, phone_number from whatsapp_sessions where id = $ and epoch = $",
      "from whatsapp_outbox o join messages m on m.id = o.message_id where o.session_id = $",
      "select exists (select from whatsapp_sessions where id = $ and epoch = $ and desired <> $) as is_owner",
      "o.pairing = (select pairing from whatsapp_sessions where id = $",
      "select id, pairing from whatsapp_sessions where id = $ and epoch = $",
      "select content from whatsapp_files where id = $",
      "select id from whatsapp_sessions where id = $ and epoch = $",
      "select o.message_id, o.session_id, o.whatsapp_id, o.status, m.account_id",
      "with step as (select id, status, clock.now - sent * millisecond as sent_at",
      "insert into whatsapp_message_counts as c (session_id, messages_count)",
      "update whatsapp_sessions set epoch = epoch + $ where id = $",
      "update whatsapp_sessions set status = $, status_since = case when status = $",
      "select is_confirmed from whatsapp_sessions where id = $ and epoch = $",
      "with deleted as (delete from whatsapp_keys where session_id = $) update whatsapp_sessions set data_key = $",
      "update whatsapp_sessions set is_confirmed = $ where id = $",
      "delete from whatsapp_sessions where id = $"
    ]
  },
  {
    because: "a domain check acts on the id of the domain that it has claimed",
    tables: ["email_domains"],
    statements: [
      "as pending_millis from email_domains where id = $ and check_until = $",
      "update email_domains set check_until = $ where id = $",
      "update email_domains set status = $, last_check = $"
    ]
  },
  {
    because: "a link, a bounce or a complaint names a message by a token of the service",
    tables: ["email_batches", "email_messages"],
    statements: [
      "update email_messages set error = $ where id = $ and status = $ and error is distinct from $",
      "m.id, m.account_id, m.batch_id, m.recipient, m.status, m.variables, m.tags, m.metadata",
      "update email_messages set status = $, attempt_count = attempt_count + case when",
      "update email_batches set sent = sent + $ where id = $",
      "select recipient from email_messages where id = $",
      "select account_id, lower(recipient), $, id from email_messages where id = $",
      "as url from email_messages m left join email_messages r on r.id = m.part_of",
      "as millis_since_sent, exists (select from email_clicks c",
      "update email_messages set opens = opens + $",
      "with message as (update email_messages set clicks = clicks + $"
    ]
  },
  {
    because: "another part of the statement chooses the messages of the account",
    tables: ["email_messages", "email_contents", "email_batches", "messages"],
    statements: [
      "with mine as (select id from email_messages where account_id = $ and (id = $ or part_of = $)",
      "with waiting as (select id from messages where batch_id = $ and account_id = $ and status = $"
    ]
  },
  {
    because: "an id that was found before names the row, and the rows joined to it have its account",
    tables: ["email_batches", "email_bodies", "email_contents", "email_messages", "failover_steps", "messages"],
    statements: [
      "from failover_steps s left join messages m",
      "left join email_bodies t on t.account_id = b.account_id and t.hash = b.text_hash and t.day = b.body_day where b.id = any($)",
      "from email_parts p join email_contents c on c.id = p.email_id left join email_bodies b"
    ]
  },
  {
    because: "the actor of a failover acts on its id",
    tables: ["failovers", "failover_steps"],
    statements: [
      "(select id from failovers where due_at <= now() order by due_at limit $)",
      "from failovers where id = $ for update",
      "update failover_steps set begun_at = now(), message_id = $::bigint",
      "update failover_steps set request = $ where failover_id = $",
      "update failovers set status = $, updated_at = now(), due_at",
      "update failovers set canceled_at = now(), due_at = now(), updated_at = now() where id = $",
      "update failovers set send_at = $::timestamptz"
    ]
  },
  {
    because: "another part of the statement chooses the sessions of the account",
    tables: ["whatsapp_sessions"],
    statements: ["from whatsapp_groups g join whatsapp_sessions s on s.id = g.session_id where g.id = $"]
  },
  {
    because: "another part of the statement chooses the messages of the account",
    tables: ["email_batches", "email_messages", "sms_parts", "whatsapp_outbox"],
    statements: [
      "m.subject as preview, b.subject as batch_subject, case when pg_column_size(m.variables)",
      "count(*) filter (where n.matches and not n.is_settled) as recent, count(*) <",
      "(select code_seed is not null from sms_parts c where c.message_id = m.id and c.part_no = $)",
      "(select code_seed is not null from whatsapp_outbox c where c.message_id = m.id)",
      "else array(select o.recipient from email_messages o where o.id = m.id or o.part_of = m.id order by o.position)"
    ]
  },
  {
    because: "the row was found by its account before, in the same request",
    tables: [
      "email_batches",
      "email_messages",
      "email_templates",
      "events",
      "login_sessions",
      "message_batches",
      "messages",
      "sms_parts",
      "verifications"
    ],
    statements: [
      "delete from login_sessions where id in (select id from login_sessions where account_id = $",
      "update email_templates set name = $, subject = $, html = $",
      "update verifications set channel = $, code_seed = $",
      "update verifications set status = $, attempts = $, verified_at",
      "update verifications set channels_left = $ where id = $ and message_id = $",
      "(select e.body from events e where e.id = d.event_id) as body",
      "select w.* from events e, unnest(e.webhook_ids, e.delivery_ids) w (webhook_id, id) where e.id = $ and w.webhook_id = $",
      "bounce_type, error, sent_at, opens, clicks from email_messages where (batch_id = $",
      "bounce_type, error, sent_at, opens, clicks from email_messages where batch_id = $",
      "select count(*) as total from email_messages where (batch_id = $",
      "select count(*) as total from email_messages where batch_id = $",
      "update email_batches set status = $ where id = $ and completed_at is null",
      "with canceled as (update email_messages set status = $, due_at = $, completed_at = now() where batch_id = $",
      "as status, case when count(*) filter (where p.kind = $) = $ then to_jsonb(min(p.recipient)",
      "select recipient as to, coalesce(kind, $) as kind, opens, clicks",
      "select id from messages where batch_id = $ and status in ($) order by id for update",
      "with part as (select message_id, status, doubts from sms_parts where message_id = any($)",
      "update message_batches set status = $ where id = $ and completed_at is null",
      "select case when m.direction = $ then m.recipient when i.chat like $",
      "with scheduled as (select m.id from messages m where"
    ]
  }
]

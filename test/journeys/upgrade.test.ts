import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import * as Migrations from "../../src/platform/database/Migrations.ts"
import { Relay } from "../support/Relay.ts"
import { makeAccount, Service } from "../support/Service.ts"
import { reaching, sendEmail } from "../support/singleMail.ts"
import { freshNumber, sendSms, smsReaching } from "../support/sms.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { create } from "../support/webhookStories.ts"

/** What the next version may do to the tables of this one: every table gets a column, and there is a new table. */
const next = `
create table from_the_next_version (id bigint primary key);
do $$
  declare
    relation regclass;
  begin
    for relation in select oid from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
        and relname not in ('migrations', 'from_the_next_version') loop
      execute format('alter table %s add column from_the_next_version text', relation);
    end loop;
  end $$;`

/**
 * What a running node of the version before would miss: it uses what is removed, renamed or done by a trigger, or does
 * not write what is required.
 */
const breaking = [
  /\bdrop\s+(?!(?:not\s+null|default|expression|identity)\b)\w+/gi,
  /\brename\b/gi,
  /\bset\s+not\s+null\b/gi,
  /\balter\s+column\s+\w+\s+(?:set\s+data\s+)?type\b/gi,
  /\badd\s+(?:column\s+)?(?:if\s+not\s+exists\s+)?(?!(?:column|constraint)\b)\w+\s+(?![^,;]*\b(?:default|generated)\b)[^,;]*\bnot\s+null\b/gi,
  /\badd\s+(?:constraint\s+\w+\s+)?(?:check|unique|foreign\s+key|primary\s+key|exclude)\b/gi,
  /\bcreate\s+unique\s+index\b/gi,
  /\bcreate\s+(?:or\s+replace\s+)?(?:constraint\s+)?trigger\b/gi
]

/** Statements of a migration that break a running node. Such a node uses no table that the migration creates. */
const breaksIn = (sql: string) => {
  const text = sql.replaceAll(/--[^\n]*/g, "")
  const created = [...text.matchAll(/\bcreate\s+(?:unlogged\s+)?table\s+(\w+)/gi)].map(([, name]) => name)
  return text.split(";")
    .filter((statement) => !created.includes(/\b(?:alter\s+table|on)\s+(?:only\s+)?(\w+)/i.exec(statement)?.[1]))
    .flatMap((statement) => breaking.flatMap((pattern) => statement.match(pattern) ?? []))
}

/** Migrations with such statements. Those before the first release ran on no node that was in use. */
const listed = new Set([
  "0009_webhook_queue.sql",
  "0010_webhook_secrets.sql",
  "0024_usage.sql",
  "0027_whatsapp_outbox.sql",
  "0050_login_sessions.sql",
  "0056_email_bodies.sql",
  "0061_batch_shards.sql",
  "0063_sandbox_search.sql",
  "0070_send_fields.sql",
  "0071_send_field_indexes.sql",
  "0085_test_accounts.sql",
  "0086_test_domains.sql",
  "0093_people.sql",
  "0100_failovers.sql",
  "0133_search_blocks.sql",
  "0135_rare_records.sql",
  "0149_deliveries_without_event_index.sql",
  // Its triggers write a table that only later versions read.
  "0161_session_states.sql",
  // Its trigger wakes a failover more often than before.
  "0174_failover_reads.sql"
])

layer(Relay.layer({ env: { SANDBOX_SMS_DELAY_MS: "50" } }), { excludeTestServices: true })(
  "a rolling upgrade",
  (it) => {
    it.effect("lets a node of the old version send mail, batches, SMS and webhooks after the next version has migrated", () =>
      Effect.gen(function*() {
        const old = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { key } = yield* makeAccount()
        const receiver = yield* makeWebhookReceiver()
        yield* create(old, key, { url: receiver.url, events: ["email.sent"] })

        const fs = yield* FileSystem.FileSystem
        const path = yield* fs.makeTempDirectoryScoped()
        for (const name of yield* Migrations.names(Migrations.directory)) {
          yield* fs.copyFile(NodePath.join(Migrations.directory, name), NodePath.join(path, name))
        }
        yield* fs.writeFileString(NodePath.join(path, "9999_next_version.sql"), next)
        assert.deepStrictEqual(yield* Migrations.migrate(path), ["9999_next_version.sql"])
        const [added] = yield* sql`select count(*) > 20 as is from information_schema.columns
          where column_name = 'from_the_next_version'`
        assert.strictEqual(added?.["is"], true)

        const mail = { subject: "Hello", text: "Hello" }
        const id = yield* sendEmail(old, key, { ...mail, to: "one@people.example" })
        assert.strictEqual((yield* reaching(old, { id, key, statuses: ["sent"] }))["status"], "sent")
        const sms = yield* sendSms(old, key, { to: freshNumber(), content: "Hello" })
        yield* smsReaching(old, { id: sms, key, statuses: ["delivered"] })
        const bulk = yield* old.request("POST", "/v1/email/send-bulk", {
          key,
          json: { ...mail, recipients: [{ to: "two@people.example" }], html: "<p>Hello</p>" }
        })
        assert.strictEqual(bulk.status, 202, bulk.text)
        // One of the single mail and one of the batch.
        yield* receiver.received(2)
        const session = yield* old.request("POST", "/v1/whatsapp/sessions", { key, json: { name: "Shop" } })
        assert.strictEqual(session.status, 201, session.text)
      }).pipe(Effect.provide(NodeFileSystem.layer)))

    it.effect("finds that only listed migrations remove, rename or require something", () =>
      Effect.sync(() => {
        for (
          const sql of [
            "alter table a drop column b;",
            "alter table a rename column b to c;",
            "alter table a add column b text not null;",
            "alter table a alter column b set not null;",
            "alter table a alter column b type bigint;",
            "alter table a drop b;",
            "alter table a add b text not null;",
            "alter table a add constraint b check (c > 0);",
            "alter table a add constraint b check (c > 0) not valid;",
            "alter table a add unique (b);",
            "alter table a add b bigint, add foreign key (b) references c;",
            "create table c (id bigint); create unique index concurrently a_b on a (b);",
            "create trigger b after insert or update of c on a for each row execute function d();",
            "drop trigger b on a;",
            "drop function b(bigint);"
          ]
        ) assert.lengthOf(breaksIn(sql), 1, sql)
        for (
          const sql of [
            "alter table a add column b text not null default '', add column c text;",
            "alter table a add b text not null default '', alter column c drop not null, alter column d drop default;",
            "create index a_b on a (b);",
            "create table a (b bigint); create unique index a_b on a (b); alter table a add check (b > 0);"
          ]
        ) assert.deepStrictEqual(breaksIn(sql), [])
        const found = NodeFs.readdirSync(Migrations.directory).filter((name) => /^\d{4}_/.test(name))
          .filter((name) => breaksIn(NodeFs.readFileSync(NodePath.join(Migrations.directory, name), "utf8")).length > 0)
        assert.deepStrictEqual(found, [...listed])
      }))
  }
)

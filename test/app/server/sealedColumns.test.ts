import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import * as NodeUrl from "node:url"
import { sealedColumns } from "../../../src/app/server/sealedColumns.ts"
import { nameOf } from "../../../src/platform/crypto/Vault.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const src = NodeUrl.fileURLToPath(new URL("../../../src", import.meta.url))

const all = [...sealedColumns.columns, sealedColumns.last]
const listed = all.map(nameOf)

/** Files that seal, and the columns they seal into. A new one is added to sealedColumns.ts first. */
const sealing: Readonly<Record<string, ReadonlyArray<string>>> = {
  "accounts/notices/SealedNotices.ts": ["notices.sealed_body"],
  "channels/whatsapp/credentials/DataKey.ts": ["whatsapp_sessions.data_key"],
  "email-domains/DomainRegistrations.ts": ["email_domains.dkim_private_key"],
  "platform/crypto/MacKeys.ts": ["keyring.sealed"],
  "platform/crypto/MainKey.ts": ["main_key_probe.sealed"],
  "platform/http/Idempotency.ts": ["idempotency_records.body"],
  "people/SecondFactors.ts": ["authenticators.seed"],
  "webhooks/Webhooks.ts": ["webhooks.secret", "webhooks.previous_secret", "webhooks.headers"]
}

/** Byte columns without secrets, or with hashes of them. A new column is added here or listed as sealed. */
const unsealed = [
  "api_keys.key_hash",
  "email_batches.html_hash",
  "email_batches.text_hash",
  "email_bodies.content",
  "email_bodies.hash",
  "email_changes.token_hash",
  "email_parts.body_hash",
  "email_parts.content",
  "events.body",
  "idempotency_records.fingerprint",
  "login_sessions.previous_hash",
  "login_sessions.token_hash",
  "passkey_challenges.challenge",
  "passkeys.credential_id",
  "passkeys.public_key",
  "password_resets.token_hash",
  "recovery_codes.code_hash",
  "revoked_api_keys.key_hash",
  "sandbox_mails.raw",
  "setup_links.token_hash",
  "webhook_deliveries.response_body",
  "whatsapp_files.content",
  "whatsapp_outbox.body"
]

/** Columns encrypted under a data key that is itself sealed, which a rotation leaves alone. */
const underDataKeys = ["whatsapp_keys.value", "whatsapp_inbox.payload"]

describe("sealed columns", () => {
  it("the list names every column that the program seals into", () => {
    const files = NodeFs.readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) =>
      // The console seals values into forms, not into columns.
      file.endsWith(".ts") && file !== "platform/crypto/Vault.ts" && !file.startsWith("console/")
      && /\bseal\b/.test(
        NodeFs.readFileSync(NodePath.join(src, file), "utf8").replaceAll(/\/\*\*.*?\*\/|\/\/[^\n]*/gs, "")
      )
    )
    assert.sameMembers(files, Object.keys(sealing))
    assert.sameMembers(Object.values(sealing).flat(), listed)
  })
})

layer(TestDatabase.layer)("schema of sealed columns", (it) => {
  it.effect("every byte column is classified as sealed, unsealed or under a data key", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`select table_name || '.' || column_name as name from information_schema.columns
        where table_schema = current_schema() and data_type = 'bytea'
          and not (select relispartition from pg_class where oid = table_name::regclass)`
      assert.sameMembers(rows.map(({ name }) => String(name)), [...listed, ...unsealed, ...underDataKeys])
    }))

  it.effect("the listed primary keys match the schema", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      for (const { key, table } of all) {
        const rows = yield* sql`select a.attname as name, format_type(a.atttypid, null) as type
          from pg_index i, unnest(i.indkey) with ordinality as k (attnum, place), pg_attribute a
          where i.indrelid = ${table}::regclass and i.indisprimary and a.attrelid = i.indrelid and a.attnum = k.attnum
          order by k.place`
        assert.deepStrictEqual(rows.map(({ name, type }) => [name, type]), key.map((column) => [...column]), table)
      }
    }))
})

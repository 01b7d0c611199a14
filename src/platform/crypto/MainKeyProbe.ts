import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { SealedColumn } from "./SealedColumn.ts"
import { Vault } from "./Vault.ts"

/** The database is sealed under a main key that this process does not have: it could read no stored secret. */
class MainKeyUnknown extends Schema.TaggedError<MainKeyUnknown>()("MainKeyUnknown", {}) {
  override get message() {
    return "ENCRYPTION_KEY is not the one that this database is sealed under. Start with that key; without it no stored secret can be read. To change the key, set ENCRYPTION_KEY_PREVIOUS to that one beside the new ENCRYPTION_KEY, start, and run: npm run cli -- rotate-key (docs/operations.md, Rotating the main key)."
  }
}

const what = "main_key_probe"

/**
 * The probe is rewrapped last of all, so until a rotation of the main key has come to its end no node starts without
 * the previous one.
 */
export const probeColumn: SealedColumn = {
  table: "main_key_probe",
  column: "sealed",
  key: [["only_row", "boolean"]],
  parts: [],
  what: () => what
}

/**
 * Gives the probe, a sealed value by which the main key of the database is known. Fails under a key that does not open
 * it; the first start leaves it.
 */
export const mainKeyProbe = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const find = SqlSchema.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ sealed: Schema.Uint8Array }),
    execute: () => sql`select sealed from main_key_probe`
  })
  yield* Effect.orDie(
    sql`insert into main_key_probe (sealed) values (${vault.seal(what, Buffer.from("probe"))}) on conflict do nothing`
  )
  const { sealed } = yield* Effect.orDie(find())
  yield* Effect.mapError(vault.open(what, sealed), () => new MainKeyUnknown())
  return sealed
})

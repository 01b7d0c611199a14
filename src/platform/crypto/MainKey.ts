import { Effect, FileSystem, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import * as NodePath from "node:path"
import { AppConfig } from "../config/AppConfig.ts"
import { WrongSetting } from "../config/Setting.ts"
import { Database } from "../database/Database.ts"
import { DatabaseUnreachable } from "../database/DatabaseUnreachable.ts"
import * as Query from "../database/Query.ts"
import { type SealedColumn, Vault } from "./Vault.ts"

/** The generated key is invalid. A start with another key would make all stored secrets unreadable. */
class MainKeyUnreadable extends Schema.TaggedError<MainKeyUnreadable>()("MainKeyUnreadable", {
  path: Schema.String
}) {
  override get message() {
    return `${this.path} does not hold 32 bytes in base64. Restore it from the backup of DATA_DIR, or set ENCRYPTION_KEY.`
  }
}

/** Waits until what a file or a directory has is on the disk. */
const flush = Effect.fnUntraced(function*(path: string) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.scoped(Effect.flatMap(fs.open(path), ({ sync }) => sync))
})

/** Reads or generates the key. If several processes start at once, the first one's key wins. */
const generated = Effect.fnUntraced(function*(path: string) {
  const fs = yield* FileSystem.FileSystem
  const fresh = `${path}.${randomBytes(6).toString("hex")}`
  if (!(yield* fs.exists(path))) {
    yield* fs.writeFileString(fresh, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600 })
    // After a power cut the database may have values under this key, so the key must be there too.
    yield* flush(fresh)
    // A link, unlike a rename, does not replace the key that another process wrote meanwhile.
    yield* Effect.ignore(fs.link(fresh, path))
    yield* fs.remove(fresh)
    yield* flush(NodePath.dirname(path))
  }
  const bytes = Buffer.from((yield* fs.readFileString(path)).trim(), "base64")
  if (bytes.length !== 32) return yield* new MainKeyUnreadable({ path })
  return Redacted.make(new Uint8Array(bytes))
})

/** The key of ENCRYPTION_KEY, which only the embedded database can do without. */
export const writtenKey = Effect.gen(function*() {
  const { databaseUrl, encryptionKey } = yield* AppConfig
  if (encryptionKey !== undefined || databaseUrl === undefined) return encryptionKey
  return yield* new WrongSetting({
    name: "ENCRYPTION_KEY",
    expects: "set when DATABASE_URL is (32 bytes in base64: openssl rand -base64 32)",
    value: ""
  })
})

/** The current key: ENCRYPTION_KEY, or one generated in DATA_DIR beside the embedded database. */
const mainKey = Effect.gen(function*() {
  const { dataDir } = yield* AppConfig
  const written = yield* writtenKey
  if (written !== undefined) return written
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(dataDir, { recursive: true })
  return yield* generated(`${dataDir}/encryption.key`)
})

/** The vault under the current key, which also opens values under ENCRYPTION_KEY_PREVIOUS. */
export const MainVault = Layer.unwrap(
  Effect.gen(function*() {
    const { encryptionKeyPrevious: previous } = yield* AppConfig
    const current = yield* mainKey
    // The rotation would do nothing and report success.
    if (previous !== undefined && Buffer.from(Redacted.value(previous)).equals(Redacted.value(current))) {
      return yield* new WrongSetting({
        name: "ENCRYPTION_KEY_PREVIOUS",
        expects: "another key than ENCRYPTION_KEY",
        value: "********"
      })
    }
    return Vault.layer(current, previous)
  })
)

/** The database is sealed under a main key that this process does not have. */
class MainKeyUnknown extends Schema.TaggedError<MainKeyUnknown>()("MainKeyUnknown", {}) {
  override get message() {
    return "ENCRYPTION_KEY is not the main key of this database. Start with that key; without it the stored secrets are unreadable. To change the key, set ENCRYPTION_KEY_PREVIOUS to that key in addition to the new ENCRYPTION_KEY, start, and run: npm run cli -- rotate-key (docs/operations.md, Rotating the main key)."
  }
}

const probe = "main_key_probe"

/** The rotation rewraps the probe last, so until it is complete no node starts without the previous key. */
export const probeColumn: SealedColumn = {
  table: "main_key_probe",
  column: "sealed",
  key: [["only_row", "boolean"]],
  parts: [],
  what: () => probe
}

/** The stored probe, if any. Fails under a key that does not open it. */
const storedProbe = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const find = Query.findOneOption({
    Request: Schema.Void,
    Result: Schema.Struct({ sealed: Schema.Uint8Array }),
    execute: () => sql`select sealed from main_key_probe`
  })
  const stored = yield* find()
  if (Option.isSome(stored)) {
    yield* Effect.mapError(vault.open(probe, stored.value.sealed), () => new MainKeyUnknown())
  }
  return Option.map(stored, ({ sealed }) => sealed)
})

/**
 * The probe is a sealed value that identifies the database's main key. The first start writes it. Fails under a key that
 * does not open it.
 */
export const mainKeyProbe = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  yield* Query.run(
    sql`insert into main_key_probe (sealed) values (${vault.seal(probe, Buffer.from("probe"))}) on conflict do nothing`
  )
  return Option.getOrThrow(yield* storedProbe)
})

/** Fails under another key than the database's. It writes nothing, so it can precede the migrations. */
const checkMainKey = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const found = yield* Effect.mapError(
    sql`select 1 where to_regclass('main_key_probe') is not null`,
    DatabaseUnreachable.from
  )
  if (found.length > 0) yield* storedProbe
})

/**
 * A migrated database, for commands that write. Under another main key than the database's, nothing is written; a new
 * database belongs to this key from then on. Without ENCRYPTION_KEY on the operator's server there is nothing to compare.
 */
export const DatabaseOfMainKey = Layer.unwrap(
  Effect.map(AppConfig, ({ databaseUrl, encryptionKey }) =>
    databaseUrl !== undefined && encryptionKey === undefined
      ? Database.layer
      : Layer.effectDiscard(mainKeyProbe).pipe(
        Layer.provideMerge(Database.layer),
        Layer.provide(Database.onMaintenancePool(Layer.effectDiscard(checkMainKey))),
        Layer.provide(MainVault)
      ))
)

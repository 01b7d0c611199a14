import { Effect, FileSystem, Layer, Redacted, Schema } from "effect"
import { randomBytes } from "node:crypto"
import { AppConfig } from "../config/AppConfig.ts"
import { WrongSetting } from "../config/Setting.ts"
import { Vault } from "./Vault.ts"

/** The generated key cannot be read back; starting with another one would make all stored secrets unreadable. */
class MainKeyUnreadable extends Schema.TaggedError<MainKeyUnreadable>()("MainKeyUnreadable", {
  path: Schema.String
}) {
  override get message() {
    return `${this.path} does not hold 32 bytes in base64. Restore it from the backup of DATA_DIR, or set ENCRYPTION_KEY.`
  }
}

/** Reads the generated key, or makes it: the first of several processes that start at once decides. */
const generated = Effect.fnUntraced(function*(path: string) {
  const fs = yield* FileSystem.FileSystem
  const fresh = `${path}.${randomBytes(6).toString("hex")}`
  if (!(yield* fs.exists(path))) {
    yield* fs.writeFileString(fresh, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600 })
    // A link, unlike a rename, does not replace what another process made in the meantime.
    yield* Effect.ignore(fs.link(fresh, path))
    yield* fs.remove(fresh)
  }
  const bytes = Buffer.from((yield* fs.readFileString(path)).trim(), "base64")
  if (bytes.length !== 32) return yield* new MainKeyUnreadable({ path })
  return Redacted.make(new Uint8Array(bytes))
})

/** The key in force: ENCRYPTION_KEY, or one generated into DATA_DIR beside the embedded database. */
const mainKey = Effect.gen(function*() {
  const { databaseUrl, dataDir, encryptionKey } = yield* AppConfig
  if (encryptionKey !== undefined) return encryptionKey
  if (databaseUrl !== undefined) {
    return yield* new WrongSetting({
      name: "ENCRYPTION_KEY",
      expects: "set when DATABASE_URL is (32 bytes in base64: openssl rand -base64 32)",
      value: ""
    })
  }
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(dataDir, { recursive: true })
  return yield* generated(`${dataDir}/encryption.key`)
})

/** The vault under the key in force, which opens what is under ENCRYPTION_KEY_PREVIOUS as well. */
export const MainVault = Layer.unwrap(
  Effect.gen(function*() {
    const { encryptionKeyPrevious: previous } = yield* AppConfig
    const current = yield* mainKey
    // A key that was not changed would be rotated away from itself, and the operator told that all is done.
    if (previous !== undefined && Buffer.from(Redacted.value(previous)).equals(Redacted.value(current))) {
      return yield* new WrongSetting({
        name: "ENCRYPTION_KEY_PREVIOUS",
        expects: "another key than the one in force",
        value: "********"
      })
    }
    return Vault.layer(current, previous)
  })
)

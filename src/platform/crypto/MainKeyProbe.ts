import { Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Vault } from "./Vault.ts"

/** The database was filled under another main key: secrets could not be read, and new ones would not fit the old. */
class MainKeyChanged extends Schema.TaggedError<MainKeyChanged>()("MainKeyChanged", {}) {
  override get message() {
    return "ENCRYPTION_KEY is not the one that this database was filled with. Start with that key; without it no stored secret can be read."
  }
}

const what = "main_key_probe"

/** Stops a start under a main key that is not the database's own. The first start leaves the value to check by. */
export const MainKeyProbe = Layer.effectDiscard(Effect.gen(function*() {
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
  yield* Effect.mapError(vault.open(what, sealed), () => new MainKeyChanged())
}))

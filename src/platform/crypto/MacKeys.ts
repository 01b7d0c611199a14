import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { mainKeyProbe } from "./MainKeyProbe.ts"
import type { SealedColumn } from "./SealedColumn.ts"
import { Vault } from "./Vault.ts"

const placeOf = (purpose: string) => `keyring:${purpose}`

/** The keys of MACs, as they are kept. */
export const keyringColumn: SealedColumn = {
  table: "keyring",
  column: "sealed",
  key: [["purpose", "text"]],
  parts: ["purpose"],
  what: (purpose) => placeOf(String(purpose))
}

/**
 * The keys of MACs, one for each purpose and the same for ever: they are kept sealed in the database, so they stay when
 * the main key is changed. A key that is not there yet is derived from the main key that the database is sealed under, as
 * it was for links that were made before there was a keyring; each start writes down all that are missing.
 */
export class MacKeys extends Context.Service<MacKeys, {
  /** Of the links by which a recipient leaves a sender. */
  readonly unsubscribe: Uint8Array
  /** Of the return paths by which reports of bounces and complaints name their message. */
  readonly bounce: Uint8Array
  /** Of the pixels and links by which opens and clicks are told. */
  readonly tracking: Uint8Array
  /** Of one-time codes. */
  readonly verify: Uint8Array
}>()("messaging-service/platform/crypto/MacKeys") {
  /** Fails under a main key that is not the database's own. */
  static readonly layer = Layer.effect(
    MacKeys,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault
      const probe = yield* mainKeyProbe
      const find = SqlSchema.findOne({
        Request: Schema.String,
        Result: Schema.Struct({ sealed: Schema.Uint8Array }),
        execute: (purpose) => sql`select sealed from keyring where purpose = ${purpose}`
      })

      const keyFor = Effect.fnUntraced(function*(purpose: string) {
        const derived = yield* vault.derive(purpose, probe)
        yield* Effect.orDie(
          sql`insert into keyring (purpose, sealed) values (${purpose}, ${vault.seal(placeOf(purpose), derived)})
          on conflict do nothing`
        )
        const { sealed } = yield* Effect.orDie(find(purpose))
        return yield* vault.open(placeOf(purpose), sealed)
      })

      return MacKeys.of({
        unsubscribe: yield* keyFor("unsubscribe"),
        bounce: yield* keyFor("bounce"),
        tracking: yield* keyFor("tracking"),
        verify: yield* keyFor("verify")
      })
    })
  )
}

import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { createSecretKey, type KeyObject } from "node:crypto"
import * as Query from "../database/Query.ts"
import { mainKeyProbe } from "./MainKey.ts"
import { type SealedColumn, Vault } from "./Vault.ts"

const placeOf = (purpose: string) => `keyring:${purpose}`

/** The sealed column of the MAC keys. */
export const keyringColumn: SealedColumn = {
  table: "keyring",
  column: "sealed",
  key: [["purpose", "text"]],
  parts: ["purpose"],
  what: (purpose) => placeOf(String(purpose))
}

/**
 * The MAC keys, one for each purpose. They never change: the database stores them sealed, so they survive a new main key.
 * Each start derives missing keys from the database's main key, so that links older than the keyring stay valid.
 * They are key objects, because Node takes much longer for a MAC with the bytes of a key.
 */
export class MacKeys extends Context.Service<MacKeys, {
  /** For unsubscribe links. */
  readonly unsubscribe: KeyObject
  /** For return paths, by which bounces and complaints identify their message. */
  readonly bounce: KeyObject
  /** For tracking pixels and links. */
  readonly tracking: KeyObject
  /** For tokens that confirm the address of an account. */
  readonly confirm: KeyObject
  /** For one-time codes. */
  readonly verify: KeyObject
  /** For the tokens of the console's forms. */
  readonly console: KeyObject
  /** For the token of the sandbox's pages. */
  readonly sandbox: KeyObject
  /** For the addresses of the sandbox's webhook receiver. */
  readonly receiver: KeyObject
  /** For the cursors of lists. */
  readonly cursor: KeyObject
  /** For the recipients of refused requests. */
  readonly recipient: KeyObject
}>()("messaging-service/platform/crypto/MacKeys") {
  /** Fails under a main key that is not the database's. */
  static readonly layer = Layer.effect(
    MacKeys,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault
      const probe = yield* mainKeyProbe
      const find = Query.findOne({
        Request: Schema.String,
        Result: Schema.Struct({ sealed: Schema.Uint8Array }),
        execute: (purpose) => sql`select sealed from keyring where purpose = ${purpose}`
      })

      const keyFor = Effect.fnUntraced(function*(purpose: string) {
        const derived = yield* vault.derive(purpose, probe)
        yield* Query.run(
          sql`insert into keyring (purpose, sealed) values (${purpose}, ${vault.seal(placeOf(purpose), derived)})
          on conflict do nothing`
        )
        const { sealed } = yield* find(purpose)
        return createSecretKey(yield* vault.open(placeOf(purpose), sealed))
      })

      return MacKeys.of({
        unsubscribe: yield* keyFor("unsubscribe"),
        bounce: yield* keyFor("bounce"),
        tracking: yield* keyFor("tracking"),
        confirm: yield* keyFor("confirm"),
        verify: yield* keyFor("verify"),
        console: yield* keyFor("console"),
        sandbox: yield* keyFor("sandbox"),
        receiver: yield* keyFor("receiver"),
        cursor: yield* keyFor("cursor"),
        recipient: yield* keyFor("recipient")
      })
    })
  )
}

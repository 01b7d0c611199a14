import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { createHash, createHmac, hkdfSync, type KeyObject, randomBytes } from "node:crypto"
import { decrypt, encrypt, overhead } from "./gcm.ts"

/** The value cannot be decrypted: its main key is unknown here, or it was altered or moved to another row. */
export class SealBroken extends Schema.TaggedError<SealBroken>()("SealBroken", {
  what: Schema.String,
  reason: Schema.Literals(["unknown_key", "altered"])
}) {
  override get message() {
    return this.reason === "altered"
      ? `The stored ${this.what} cannot be decrypted: it was altered, or moved here from another row. Restore it from a backup.`
      : `The stored ${this.what} is sealed under an unknown main key. Set ENCRYPTION_KEY_PREVIOUS to that key in addition to ENCRYPTION_KEY, and run: npm run cli -- rotate-key`
  }
}

const version = 1

const idLength = 4
const headLength = 1 + idLength
const wrappedLength = 32 + overhead

/** A key that each node derives from a main key, with the id of that main key in hexadecimal. */
export interface SharedKey {
  readonly id: string
  readonly key: Uint8Array
}

interface MainKey {
  readonly id: Uint8Array
  readonly bytes: Uint8Array
}

const mainKeyOf = (key: Redacted.Redacted<Uint8Array>): MainKey => {
  const bytes = Redacted.value(key)
  return { bytes, id: createHash("sha256").update("key id").update(bytes).digest().subarray(0, idLength) }
}

const partsOf = (sealed: Uint8Array) => ({
  wrapped: sealed.subarray(headLength, headLength + wrappedLength),
  body: sealed.subarray(headLength + wrappedLength)
})

const derive = ({ bytes }: MainKey, purpose: string) => new Uint8Array(hkdfSync("sha256", bytes, "", purpose, 32))

const sharedKey = (main: MainKey, purpose: string): SharedKey => ({
  id: Buffer.from(main.id).toString("hex"),
  key: derive(main, purpose)
})

/** Puts a value together with its wrapped data key; the body may be megabytes and stays unchanged. */
const assemble = (main: MainKey, wrapped: Uint8Array, body: Uint8Array) =>
  Buffer.concat([Buffer.of(version), main.id, wrapped, body])

const seal = (main: MainKey, what: string, plain: Uint8Array) => {
  const dataKey = randomBytes(32)
  return assemble(main, encrypt(main.bytes, what, dataKey), encrypt(dataKey, what, plain))
}

const open = (main: MainKey, what: string, sealed: Uint8Array) => {
  const { body, wrapped } = partsOf(sealed)
  return decrypt(decrypt(main.bytes, what, wrapped), what, body)
}

/** Decrypts the whole value first, so that a broken value is never rewrapped as if it were valid. */
const rewrap = (
  from: MainKey,
  to: MainKey,
  { sealed, what }: { readonly sealed: Uint8Array; readonly what: string }
) => {
  const { body, wrapped } = partsOf(sealed)
  const dataKey = decrypt(from.bytes, what, wrapped)
  decrypt(dataKey, what, body)
  return assemble(to, encrypt(to.bytes, what, dataKey), body)
}

/**
 * Envelope encryption of secrets at rest. Each secret has its own data key, wrapped by the operator's main key. `what`
 * (table and id) is authenticated with it, so a sealed value does not open in another row.
 *
 * Layout: version (1), id of the main key (4), wrapped data key (60), nonce (12), ciphertext, tag (16). The id selects the
 * main key that opens the value. New values are always sealed under the current main key.
 */
export class Vault extends Context.Service<Vault, {
  /** Encrypts bytes that belong to `what`, under the current main key. */
  readonly seal: (what: string, plain: Uint8Array) => Uint8Array
  /** Decrypts a result of {@link seal} for the same `what`, under any known main key. */
  readonly open: (what: string, sealed: Uint8Array) => Effect.Effect<Uint8Array, SealBroken>
  /** Wraps the data key of a value under the current main key; its ciphertext stays. */
  readonly rewrap: (what: string, sealed: Uint8Array) => Effect.Effect<Uint8Array, SealBroken>
  /** The id of the current main key: bytes 2 to 5 of every value sealed under it. */
  readonly keyId: Uint8Array
  /** Derives a key for one purpose from the main key that sealed `sealed`. */
  readonly derive: (purpose: string, sealed: Uint8Array) => Effect.Effect<Uint8Array, SealBroken>
  /** The keys for one purpose that nodes share: of the current main key, then of the previous one. */
  readonly sharedKeys: (purpose: string) => readonly [SharedKey, ...ReadonlyArray<SharedKey>]
}>()("messaging-service/platform/crypto/Vault") {
  /** Seals under a main key of 32 bytes, and opens values sealed under it or the previous one. */
  static readonly layer = (
    mainKey: Redacted.Redacted<Uint8Array>,
    previousKey?: Redacted.Redacted<Uint8Array>
  ) =>
    Layer.sync(Vault, () => {
      const current = mainKeyOf(mainKey)
      const previous = previousKey === undefined ? [] : [mainKeyOf(previousKey)]
      const known = [current, ...previous]
      const using = <A>(what: string, sealed: Uint8Array, use: (main: MainKey) => A) => {
        const id = sealed.subarray(1, headLength)
        const main = known.find((key) => Buffer.from(key.id).equals(id))
        return main === undefined
          ? Effect.fail(new SealBroken({ what, reason: "unknown_key" }))
          : Effect.try({ try: () => use(main), catch: () => new SealBroken({ what, reason: "altered" }) })
      }
      return Vault.of({
        keyId: current.id,
        seal: (what, plain) => seal(current, what, plain),
        open: (what, sealed) => using(what, sealed, (main) => open(main, what, sealed)),
        rewrap: (what, sealed) => using(what, sealed, (main) => rewrap(main, current, { what, sealed })),
        derive: (purpose, sealed) => using(purpose, sealed, (main) => derive(main, purpose)),
        sharedKeys: (purpose) => [
          sharedKey(current, purpose),
          ...previous.map((main) => sharedKey(main, purpose))
        ]
      })
    })
}

/** The first bytes of an HMAC-SHA256, for short tokens. */
export const shortMac = (key: KeyObject, text: string, bytes: number): Buffer =>
  createHmac("sha256", key).update(text).digest().subarray(0, bytes)

/** A column of sealed values: what the rotation of the main key has to know about it. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** The primary key's columns and their types, in its order. */
  readonly key: ReadonlyArray<readonly [name: string, type: "bigint" | "text" | "boolean"]>
  /** The columns that `what` is made of. */
  readonly parts: ReadonlyArray<string>
  /** The `what` that a row's value is sealed for. */
  readonly what: (...parts: ReadonlyArray<string | number>) => string
}

/** The column's name in messages, such as `webhooks.secret`. */
export const nameOf = ({ column, table }: SealedColumn): string => `${table}.${column}`

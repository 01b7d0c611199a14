import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { createHash, createHmac, hkdfSync, randomBytes } from "node:crypto"
import { decrypt, encrypt, overhead } from "./gcm.ts"

/** The bytes cannot be opened: no key for them is known here, or they were altered or moved to another row. */
export class SealBroken extends Schema.TaggedError<SealBroken>()("SealBroken", {
  what: Schema.String,
  reason: Schema.Literals(["unknown_key", "altered"])
}) {
  override get message() {
    return this.reason === "altered"
      ? `The stored ${this.what} cannot be decrypted: it was altered, or moved here from another row.`
      : `The stored ${this.what} is sealed under a main key that is not known here. Set ENCRYPTION_KEY_PREVIOUS to that key, beside ENCRYPTION_KEY, and run: npm run cli -- rotate-key`
  }
}

const version = 1

const idLength = 4
const headLength = 1 + idLength
const wrappedLength = 32 + overhead

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

/** The value under a main key, its data key wrapped anew: the body may be megabytes and stays as it is. */
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

/** The whole value is opened on the way: bytes that were broken before are never passed on as if they were good. */
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
 * Envelope encryption of secrets at rest. Each secret has a data key of its own, wrapped by the operator's main key;
 * `what` (table and id) is authenticated with it, so a sealed value moved to another row does not open.
 *
 * Layout: version (1), id of the main key (4), wrapped data key (60), nonce (12), ciphertext, tag (16). The id says which
 * of the known main keys a value opens under; a new value is always sealed under the one in force.
 */
export class Vault extends Context.Service<Vault, {
  /** Encrypts bytes that belong to `what`, under the main key in force. */
  readonly seal: (what: string, plain: Uint8Array) => Uint8Array
  /** Decrypts what {@link seal} gave for the same `what`, under any main key that is known. */
  readonly open: (what: string, sealed: Uint8Array) => Effect.Effect<Uint8Array, SealBroken>
  /** The same secret under the main key in force: the data key is wrapped anew, its ciphertext stays. */
  readonly rewrap: (what: string, sealed: Uint8Array) => Effect.Effect<Uint8Array, SealBroken>
  /** The id of the main key in force: bytes 2 to 5 of what is sealed under it. */
  readonly keyId: Uint8Array
  /** A key for one purpose, derived from the main key that `sealed` is under. */
  readonly derive: (purpose: string, sealed: Uint8Array) => Effect.Effect<Uint8Array, SealBroken>
}>()("messaging-service/platform/crypto/Vault") {
  /** A vault that seals under one main key of 32 bytes, and opens what is sealed under it or the previous one. */
  static readonly layer = (
    mainKey: Redacted.Redacted<Uint8Array>,
    previousKey?: Redacted.Redacted<Uint8Array>
  ) =>
    Layer.sync(Vault, () => {
      const current = mainKeyOf(mainKey)
      const known = previousKey === undefined ? [current] : [current, mainKeyOf(previousKey)]
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
        derive: (purpose, sealed) =>
          using(purpose, sealed, ({ bytes }) => new Uint8Array(hkdfSync("sha256", bytes, "", purpose, 32)))
      })
    })
}

/** HMAC-SHA256 cut to its first bytes, for tokens that have to stay short. */
export const shortMac = (key: Uint8Array, text: string, bytes: number): Buffer =>
  createHmac("sha256", key).update(text).digest().subarray(0, bytes)

import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from "node:crypto"

/** The bytes cannot be opened: they were altered, moved to another row, or sealed under another main key. */
export class SealBroken extends Schema.TaggedError<SealBroken>()("SealBroken", { what: Schema.String }) {
  override get message() {
    return `The stored ${this.what} cannot be decrypted. Is ENCRYPTION_KEY the one it was stored with?`
  }
}

const version = 1
const gcm = "aes-256-gcm"
const nonceLength = 12
const tagLength = 16

const encrypt = (key: Uint8Array, aad: string, plain: Uint8Array) => {
  const nonce = randomBytes(nonceLength)
  const cipher = createCipheriv(gcm, key, nonce).setAAD(Buffer.from(aad))
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

const decrypt = (key: Uint8Array, aad: string, sealed: Uint8Array) => {
  const end = sealed.length - tagLength
  const decipher = createDecipheriv(gcm, key, sealed.subarray(0, nonceLength))
    .setAAD(Buffer.from(aad))
    .setAuthTag(sealed.subarray(end))
  return Buffer.concat([decipher.update(sealed.subarray(nonceLength, end)), decipher.final()])
}

const wrappedLength = nonceLength + 32 + tagLength

/**
 * Envelope encryption of secrets at rest. Each secret has a data key of its own, wrapped by the operator's main key;
 * `what` (table and id) is authenticated with it, so a sealed value moved to another row does not open.
 *
 * Layout: version (1), id of the main key (4), wrapped data key (60), nonce (12), ciphertext, tag (16).
 */
export class Vault extends Context.Service<Vault, {
  /** Encrypts bytes that belong to `what`. */
  readonly seal: (what: string, plain: Uint8Array) => Uint8Array
  /** Decrypts what {@link seal} gave for the same `what`. */
  readonly open: (what: string, sealed: Uint8Array) => Effect.Effect<Uint8Array, SealBroken>
  /** A key derived from the main key for one purpose, for MACs over links and addresses. */
  readonly macKey: (purpose: string) => Uint8Array
}>()("messaging-service/platform/crypto/Vault") {
  /** A vault under one main key of 32 bytes. */
  static readonly layer = (mainKey: Redacted.Redacted<Uint8Array>) =>
    Layer.sync(Vault, () => {
      const main = Redacted.value(mainKey)
      const id = createHash("sha256").update("key id").update(main).digest().subarray(0, 4)
      const seal = (what: string, plain: Uint8Array) => {
        const dataKey = randomBytes(32)
        return Buffer.concat([Buffer.of(version), id, encrypt(main, what, dataKey), encrypt(dataKey, what, plain)])
      }
      const open = (what: string, sealed: Uint8Array) =>
        Effect.try({
          try: () => {
            const body = sealed.subarray(5)
            return decrypt(decrypt(main, what, body.subarray(0, wrappedLength)), what, body.subarray(wrappedLength))
          },
          catch: () => new SealBroken({ what })
        })
      const macKey = (purpose: string) => new Uint8Array(hkdfSync("sha256", main, "", purpose, 32))
      return Vault.of({ seal, open, macKey })
    })
}

/** HMAC-SHA256 cut to its first bytes, for tokens that have to stay short. */
export const shortMac = (key: Uint8Array, text: string, bytes: number): Buffer =>
  createHmac("sha256", key).update(text).digest().subarray(0, bytes)

import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from "node:crypto"

const algorithm = "aes-256-gcm"
const nonceLength = 12
const tagLength = 16

/** Bytes, or a key object if one key encrypts many values: from bytes Node makes a key object each time. */
type Key = Uint8Array | KeyObject

/** How many bytes {@link encrypt} adds. */
export const overhead = nonceLength + tagLength

/** AES-256-GCM: nonce (12), ciphertext, tag (16). `aad` is authenticated and must be the same to decrypt. */
export const encrypt = (key: Key, aad: string, plain: Uint8Array): Buffer => {
  const nonce = randomBytes(nonceLength)
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(aad))
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** Decrypts a result of {@link encrypt}; throws if the key, `aad` or bytes differ. */
export const decrypt = (key: Key, aad: string, sealed: Uint8Array): Buffer => {
  const end = sealed.length - tagLength
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceLength))
    .setAAD(Buffer.from(aad))
    .setAuthTag(sealed.subarray(end))
  return Buffer.concat([decipher.update(sealed.subarray(nonceLength, end)), decipher.final()])
}

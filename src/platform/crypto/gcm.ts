import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from "node:crypto"

const algorithm = "aes-256-gcm"
const nonceLength = 12
const tagLength = 16

/** Bytes, or, where one key encrypts many values, a key object: of bytes Node makes one each time, which costs more. */
type Key = Uint8Array | KeyObject

/** Bytes that {@link encrypt} adds. */
export const overhead = nonceLength + tagLength

/** AES-256-GCM: nonce (12), ciphertext, tag (16). `aad` is authenticated with it and has to be the same to decrypt. */
export const encrypt = (key: Key, aad: string, plain: Uint8Array): Buffer => {
  const nonce = randomBytes(nonceLength)
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(aad))
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** What {@link encrypt} was given; throws where key, `aad` or bytes are not those. */
export const decrypt = (key: Key, aad: string, sealed: Uint8Array): Buffer => {
  const end = sealed.length - tagLength
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceLength))
    .setAAD(Buffer.from(aad))
    .setAuthTag(sealed.subarray(end))
  return Buffer.concat([decipher.update(sealed.subarray(nonceLength, end)), decipher.final()])
}

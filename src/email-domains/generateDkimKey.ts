import { Effect, Redacted } from "effect"
import { generateKeyPair } from "node:crypto"

/** The two halves of a domain's key. */
export interface DkimKey {
  /** PKCS #8 in PEM form. */
  readonly privateKey: Redacted.Redacted
  /** Base64 of the DER form, as it stands in DNS. */
  readonly publicKey: string
}

/**
 * A new RSA key of 2048 bits (RFC 8301): what every receiver verifies and what fits into DNS. It is made in a thread of
 * the pool, a tenth of a second of work in which the event loop goes on.
 */
export const generateDkimKey = Effect.callback<DkimKey>((resume) => {
  generateKeyPair("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "der" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" }
  }, (error, publicKey, privateKey) => {
    resume(
      error === null
        ? Effect.succeed({
          privateKey: Redacted.make(privateKey, { label: "DKIM private key" }),
          publicKey: publicKey.toString("base64")
        })
        : Effect.die(error)
    )
  })
})

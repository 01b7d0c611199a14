import { Redacted } from "effect"
import * as NodeCrypto from "node:crypto"

/**
 * A webhook's secret made ready for signing, both readings of the one string that its owner was shown:
 * the whole of it, and what its base64 part decodes to (Standard Webhooks). Neither shows when inspected.
 */
export interface SigningKey {
  readonly printed: NodeCrypto.KeyObject
  readonly decoded: NodeCrypto.KeyObject
}

const prefix = "whsec_"

/** A new secret: `whsec_` and the base64 of 32 random bytes. */
export const generateSecret = (): Redacted.Redacted =>
  Redacted.make(prefix + NodeCrypto.randomBytes(32).toString("base64"), { label: "webhook secret" })

/** Keep it as long as the webhook is in memory: making one costs as much as signing. */
export const signingKey = (secret: Redacted.Redacted): SigningKey => {
  const text = Redacted.value(secret)
  const base64 = text.startsWith(prefix) ? text.slice(prefix.length) : text
  return {
    printed: NodeCrypto.createSecretKey(Buffer.from(text, "utf8")),
    decoded: NodeCrypto.createSecretKey(Buffer.from(base64, "base64"))
  }
}

/** One attempt to deliver one event to one webhook. */
export interface Attempt {
  readonly event: string
  readonly event_id: string
  readonly delivery_id: number | string
  /** 1 is the first. */
  readonly attempt: number
  /** Of this attempt, in whole Unix seconds: receivers refuse old ones to stop replays. */
  readonly timestamp: number
  readonly body: Uint8Array
  readonly key: SigningKey
  /** The key before a rotation, while both are valid. */
  readonly previous_key?: SigningKey | undefined
  readonly is_test?: boolean | undefined
}

const overBody = (attempt: Attempt, key: SigningKey): string =>
  NodeCrypto.createHmac("sha256", key.printed).update(attempt.body).digest("hex")

const overIdTimeBody = (attempt: Attempt, key: SigningKey): string => {
  const head = `${attempt.event_id}.${attempt.timestamp}.`
  return `v1,${NodeCrypto.createHmac("sha256", key.decoded).update(head).update(attempt.body).digest("base64")}`
}

/**
 * The headers of an attempt: those of spec 6.3 and, beside them, the three of Standard Webhooks 1.0, whose signature
 * covers the time as well. While a rotation overlaps, a receiver that knows either secret can verify.
 */
export const sign = (attempt: Attempt): Record<string, string> => {
  const { key, previous_key } = attempt
  const signature = overIdTimeBody(attempt, key)
  return {
    "content-type": "application/json",
    "user-agent": "MessagingService-Webhooks/1",
    "X-Service-Event": attempt.event,
    "X-Service-Signature": overBody(attempt, key),
    ...(previous_key && { "X-Service-Signature-Previous": overBody(attempt, previous_key) }),
    "X-Service-Event-Id": attempt.event_id,
    "X-Service-Delivery-Id": String(attempt.delivery_id),
    "X-Service-Attempt": String(attempt.attempt),
    ...(attempt.is_test === true && { "X-Service-Test": "true" }),
    "webhook-id": attempt.event_id,
    "webhook-timestamp": String(attempt.timestamp),
    "webhook-signature": previous_key ? `${signature} ${overIdTimeBody(attempt, previous_key)}` : signature
  }
}

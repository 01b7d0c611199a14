import { Redacted, Result } from "effect"
import * as NodeCrypto from "node:crypto"
import type { SealedColumn } from "../../platform/crypto/Vault.ts"
import { WebhookId } from "../../values/Ids.ts"

const prefix = "whsec_"

/** A new secret: `whsec_` and the base64 of 32 random bytes. */
export const generate = (): Redacted.Redacted =>
  Redacted.make(prefix + NodeCrypto.randomBytes(32).toString("base64"), { label: "webhook secret" })

/**
 * Binds a webhook's sealed secrets to its row. The previous secret has the same purpose, so that a rotation copies its bytes
 * from column to column in one statement.
 */
export const purpose = (id: WebhookId): string => `webhooks:${id}:secret`

/** Binds a webhook's sealed headers to its row. */
export const headersPurpose = (id: WebhookId): string => `webhooks:${id}:headers`

const sealedColumn = (column: string, what: (id: WebhookId) => string): SealedColumn => ({
  table: "webhooks",
  column,
  key: [["id", "bigint"]],
  parts: ["id"],
  what: (id) => what(WebhookId.make(Number(id)))
})

/** The sealed columns. The current secret comes first: a rotation meanwhile moves it to the previous one. */
export const sealedColumns: ReadonlyArray<SealedColumn> = [
  sealedColumn("secret", purpose),
  sealedColumn("previous_secret", purpose),
  sealedColumn("headers", headersPurpose)
]

/**
 * A webhook's secret, ready for signing, in two readings of the string that its owner was shown: all of it, and the decoded
 * base64 part (Standard Webhooks). Inspecting it shows neither.
 */
export interface SigningKey {
  readonly printed: NodeCrypto.KeyObject
  readonly decoded: NodeCrypto.KeyObject
}

/** Prepares a secret for signing. Keep the result: preparing costs as much as signing. */
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
  /** When this attempt starts, in whole Unix seconds: receivers reject old ones to stop replays. */
  readonly timestamp: number
  readonly body: Uint8Array
  readonly key: SigningKey
  /** The key before a rotation, while both are valid. */
  readonly previous_key?: SigningKey | undefined
  readonly is_test?: boolean | undefined
}

const bodySignature = (body: Uint8Array, key: SigningKey): string =>
  NodeCrypto.createHmac("sha256", key.printed).update(body).digest("hex")

const standardSignature = (head: string, body: Uint8Array, key: SigningKey): string =>
  `v1,${NodeCrypto.createHmac("sha256", key.decoded).update(head).update(body).digest("base64")}`

/**
 * The headers of an attempt: those of spec 6.3 and the three of Standard Webhooks 1.0, whose signature covers the time as
 * well. While a rotation overlaps, a receiver that knows either secret can verify.
 */
export const sign = (attempt: Attempt): Record<string, string> => {
  const { body, event_id, key, previous_key } = attempt
  const head = `${event_id}.${attempt.timestamp}.`
  const signature = standardSignature(head, body, key)
  return {
    "content-type": "application/json",
    "user-agent": "MessagingService-Webhooks/1",
    "X-Service-Event": attempt.event,
    "X-Service-Signature": bodySignature(body, key),
    ...(previous_key && { "X-Service-Signature-Previous": bodySignature(body, previous_key) }),
    "X-Service-Event-Id": event_id,
    "X-Service-Delivery-Id": String(attempt.delivery_id),
    "X-Service-Attempt": String(attempt.attempt),
    ...(attempt.is_test === true && { "X-Service-Test": "true" }),
    "webhook-id": event_id,
    "webhook-timestamp": String(attempt.timestamp),
    "webhook-signature": previous_key ? `${signature} ${standardSignature(head, body, previous_key)}` : signature
  }
}

/** A delivery as its receiver gets it: header names in lower case, the body byte for byte. */
export interface Received {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array
}

/** How many seconds a delivery's timestamp may differ from the receiver's clock: an older one may be a replay. */
export const tolerance = 300

const isSame = (expected: string, given: string | undefined): boolean => {
  if (given === undefined) return false
  const [left, right] = [Buffer.from(expected), Buffer.from(given)]
  return left.length === right.length && NodeCrypto.timingSafeEqual(left, right)
}

/**
 * Checks a delivery as a receiver should: the signature over the body (spec 6.3), the Standard Webhooks signature over
 * id, time and body, and the time. Fails with one sentence that names the mismatch. `now` is in Unix seconds.
 */
export const verify = (received: Received, secret: Redacted.Redacted, now: number): Result.Result<void, string> => {
  const { body, headers } = received
  const key = signingKey(secret)
  const ofBody = bodySignature(body, key)
  if (!isSame(ofBody, headers["x-service-signature"]) && !isSame(ofBody, headers["x-service-signature-previous"])) {
    return Result.fail("X-Service-Signature does not match this body and this secret")
  }
  const timestamp = headers["webhook-timestamp"] ?? ""
  const standard = standardSignature(`${headers["webhook-id"] ?? ""}.${timestamp}.`, body, key)
  if (!(headers["webhook-signature"] ?? "").split(" ").some((signature) => isSame(standard, signature))) {
    return Result.fail("webhook-signature does not match this id, time and body")
  }
  return Math.abs(now - Number(timestamp)) <= tolerance
    ? Result.void
    : Result.fail(`webhook-timestamp is more than ${tolerance} seconds from now: this may be a replay`)
}

import { type Redacted, Result } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"
import { signingKey } from "./WebhookSecret.ts"

/** What a receiver got: header names in lower case, the body byte for byte. */
export interface Received {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array
}

/** How far a delivery's clock may be from the receiver's, in seconds: older ones may be replays. */
export const tolerance = 300

const same = (expected: string, given: string | undefined): boolean => {
  if (given === undefined) return false
  const [left, right] = [Buffer.from(expected), Buffer.from(given)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/**
 * Checks a delivery as a receiver should: the signature over the body (spec 6.3), the Standard Webhooks signature over
 * id, time and body, and the time. Fails with one sentence that says what does not fit. `now` is in Unix seconds.
 */
export const verify = (received: Received, secret: Redacted.Redacted, now: number): Result.Result<void, string> => {
  const { body, headers } = received
  const key = signingKey(secret)
  const overBody = createHmac("sha256", key.printed).update(body).digest("hex")
  if (!same(overBody, headers["x-service-signature"]) && !same(overBody, headers["x-service-signature-previous"])) {
    return Result.fail("X-Service-Signature does not fit this body and this secret")
  }
  const timestamp = headers["webhook-timestamp"] ?? ""
  const signed = createHmac("sha256", key.decoded).update(`${headers["webhook-id"] ?? ""}.${timestamp}.`).update(body)
  const overAll = `v1,${signed.digest("base64")}`
  if (!(headers["webhook-signature"] ?? "").split(" ").some((signature) => same(overAll, signature))) {
    return Result.fail("webhook-signature does not fit this id, time and body")
  }
  return Math.abs(now - Number(timestamp)) <= tolerance
    ? Result.void
    : Result.fail(`webhook-timestamp is more than ${tolerance} seconds from now: this may be a replay`)
}

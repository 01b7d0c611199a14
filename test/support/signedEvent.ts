import * as NodeCrypto from "node:crypto"
import { Webhook } from "standardwebhooks"
import type { ReceivedRequest } from "./WebhookReceiver.ts"

/** The event envelope of spec 6.2. */
export interface SignedEvent {
  readonly id: string
  readonly event: string
  readonly timestamp: string
  readonly data: Readonly<Record<string, unknown>>
}

/**
 * Parses and verifies an event without our own code, as a careful receiver does: the HMAC is compared in constant time,
 * and the Standard Webhooks signature is checked by that project's library. It throws if either is wrong.
 */
export const signedEvent = ({ body, headers }: ReceivedRequest, secret: string): SignedEvent => {
  const expected = NodeCrypto.createHmac("sha256", secret).update(body).digest()
  const given = Buffer.from(headers["x-service-signature"] ?? "", "hex")
  if (given.length !== expected.length || !NodeCrypto.timingSafeEqual(given, expected)) {
    throw new Error(`X-Service-Signature is wrong: ${headers["x-service-signature"]}`)
  }
  new Webhook(secret).verify(body.toString("utf8"), { ...headers })
  const event: SignedEvent = JSON.parse(body.toString("utf8"))
  for (const [name, value] of [["x-service-event", event.event], ["webhook-id", event.id]] as const) {
    if (headers[name] !== value) throw new Error(`${name} is ${headers[name]}, the body says ${value}`)
  }
  return event
}

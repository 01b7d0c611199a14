import { Effect, Result, Schema } from "effect"
import * as NodeCrypto from "node:crypto"
import { Changes } from "../../test/support/Changes.ts"
import { makeWebhookReceiver, type ReceivedRequest } from "../../test/support/WebhookReceiver.ts"

/** The part of an event's body that the demo reads. */
const Body = Schema.fromJsonString(Schema.Struct({
  id: Schema.String,
  event: Schema.String,
  data: Schema.Struct({ batch_id: Schema.NullOr(Schema.String) })
}))

/** Every receiver should first compare the digest of the received bytes in constant time (spec 6.3). */
const isAuthentic = ({ body, headers }: ReceivedRequest, secret: string) => {
  const expected = NodeCrypto.createHmac("sha256", secret).update(body).digest()
  const given = Buffer.from(headers["x-service-signature"] ?? "", "hex")
  return given.length === expected.length && NodeCrypto.timingSafeEqual(given, expected)
}

/** A webhook endpoint on this machine that checks signatures, deduplicates and counts events. */
export const eventReceiver = Effect.gen(function*() {
  const changes = new Changes(() => [...seen.values()])
  const seen = new Map<string, { readonly event: string; readonly batchId: string | null }>()
  let forged = 0
  let secret = ""

  const receive = (request: ReceivedRequest) => {
    const body = Schema.decodeResult(Body)(request.body.toString("utf8"))
    if (!isAuthentic(request, secret) || Result.isFailure(body)) {
      forged++
      return 401
    }
    const { data, event, id } = body.success
    seen.set(id, { event, batchId: data.batch_id })
    changes.notify()
    return 204
  }
  const { url } = yield* makeWebhookReceiver({ script: receive })

  const count = (event: string, of: string) =>
    [...seen.values()].filter(({ batchId, event: name }) => name === event && batchId === of).length

  return {
    url,
    /** Sets the secret from the webhook's creation. */
    trust: (of: string) => {
      secret = of
    },
    /** How many different events of a name and a batch arrived. */
    count,
    /** Waits until this many have arrived. */
    received: (wanted: number, event: string, of: string) =>
      changes.until(() => count(event, of) >= wanted, "90 seconds"),
    /** Requests with a wrong signature. */
    forged: () => forged
  }
})

import { assert, describe, it } from "@effect/vitest"
import { type Redacted, Result, Schema } from "effect"
import { tolerance, verify } from "../../../src/webhooks/endpoint/verify.ts"
import { generateSecret, sign, signingKey } from "../../../src/webhooks/endpoint/WebhookSecret.ts"

const secret = generateSecret()
const sentAt = 1_800_000_000

const received = (body: Uint8Array, by: Redacted.Redacted = secret, previous?: Redacted.Redacted) => {
  const headers = sign({
    event: "email.sent",
    event_id: "evt_01HZX3T5K8Q2W4Y6B9D1F3H5J7",
    delivery_id: 7,
    attempt: 1,
    timestamp: sentAt,
    body,
    key: signingKey(by),
    previous_key: previous === undefined ? undefined : signingKey(previous)
  })
  return {
    body,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  }
}

const refusal = (result: Result.Result<void, string>) => Result.isFailure(result) ? result.failure : ""

describe("verify", () => {
  it.prop(
    "takes every body as it was signed",
    [Schema.Uint8Array],
    ([body]) => Result.isSuccess(verify(received(body), secret, sentAt + 3))
  )

  it("refuses a body that was changed, another secret, another id and a replay", () => {
    const delivery = received(Buffer.from("{\"a\":1}"))
    assert.match(
      refusal(verify({ ...delivery, body: Buffer.from("{\"a\":2}") }, secret, sentAt)),
      /X-Service-Signature/
    )
    assert.match(refusal(verify(delivery, generateSecret(), sentAt)), /X-Service-Signature/)
    const headers = { ...delivery.headers, "webhook-id": "evt_other" }
    assert.match(refusal(verify({ ...delivery, headers }, secret, sentAt)), /webhook-signature/)
    assert.match(refusal(verify(delivery, secret, sentAt + tolerance + 1)), /replay/)
    assert.match(refusal(verify({ ...delivery, headers: {} }, secret, sentAt)), /X-Service-Signature/)
  })

  it("takes either secret while a rotation overlaps", () => {
    const next = generateSecret()
    const delivery = received(Buffer.from("{}"), next, secret)
    assert.isTrue(Result.isSuccess(verify(delivery, next, sentAt)))
    assert.isTrue(Result.isSuccess(verify(delivery, secret, sentAt)))
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import {
  MessagingClient,
  type VerifyOptions,
  webhooks,
  WebhookVerificationError
} from "../../src/sdk/MessagingClient.ts"
import { generate, sign, signingKey } from "../../src/webhooks/endpoint/WebhookSecret.ts"

const [secret, previous, foreign] = [generate(), generate(), generate()].map(Redacted.value)
const event = { id: "evt_1", event: "email.sent", timestamp: "", data: { subject: "Grüße 🙂" } }
const body = Buffer.from(JSON.stringify(event))

/** Headers of a delivery `ago` seconds ago, as the service makes them. */
const headersOf = ({ ago = 0, rotated = false } = {}): Record<string, string> =>
  sign({
    event: "email.sent",
    event_id: "evt_1",
    delivery_id: 7,
    attempt: 1,
    timestamp: Math.floor(Date.now() / 1000) - ago,
    body,
    key: signingKey(Redacted.make(secret ?? "")),
    previous_key: rotated ? signingKey(Redacted.make(previous ?? "")) : undefined
  })

const outcome = (
  { bytes = body, headers = headersOf(), held = secret ?? "", options }: {
    readonly bytes?: string | Uint8Array
    readonly headers?: Record<string, string>
    readonly held?: string | ReadonlyArray<string>
    readonly options?: VerifyOptions
  }
) =>
  webhooks.verify(bytes, headers, held, options).then(
    ({ id }) => id,
    (error) => error instanceof WebhookVerificationError ? error.reason : error
  )

const service = { scheme: "service" } as const

describe("webhooks.verify of the SDK", () => {
  it("returns the event that the service signed, for text, bytes, Headers and any case of names", async () => {
    const upper = Object.fromEntries(Object.entries(headersOf()).map(([name, value]) => [name.toUpperCase(), value]))
    assert.strictEqual(await outcome({}), "evt_1")
    assert.strictEqual(await outcome({ bytes: body.toString() }), "evt_1")
    assert.strictEqual(await outcome({ headers: upper }), "evt_1")
    const client = new MessagingClient({ apiKey: "sk", baseUrl: "https://messages.example" })
    assert.deepStrictEqual(await client.webhooks.verify(body, new Headers(headersOf()), secret ?? ""), event as never)
  })

  it("accepts either secret during a rotation, and several at once", async () => {
    const headers = headersOf({ rotated: true })
    for (const options of [{}, service]) {
      for (const held of [secret ?? "", previous ?? "", [foreign ?? "", previous ?? ""]]) {
        assert.strictEqual(await outcome({ headers, held, options }), "evt_1")
      }
      assert.strictEqual(await outcome({ headers, held: foreign ?? "", options }), "signature_mismatch")
    }
  })

  it("rejects a changed body, a foreign secret and garbage", async () => {
    const changed = Buffer.from(body.toString().replace("email.sent", "email.Sent"))
    for (const options of [{}, service]) {
      assert.strictEqual(await outcome({ bytes: changed, options }), "signature_mismatch")
      assert.strictEqual(await outcome({ bytes: `${body.toString()}\n`, options }), "signature_mismatch")
      assert.strictEqual(await outcome({ held: foreign ?? "", options }), "signature_mismatch")
      const headers = { ...headersOf(), "webhook-signature": "v1,é v1, v2,x *", "X-Service-Signature": "zz é" }
      assert.strictEqual(await outcome({ headers, options }), "signature_mismatch")
      assert.strictEqual(await outcome({ headers: {}, options }), "headers_missing")
    }
    assert.strictEqual(await outcome({ held: "no secret" }), "secret_invalid")
  })

  it("rejects what is more than five minutes off, unless the tolerance says otherwise", async () => {
    assert.strictEqual(await outcome({ headers: headersOf({ ago: 290 }) }), "evt_1")
    assert.strictEqual(await outcome({ headers: headersOf({ ago: 310 }) }), "timestamp_outside_tolerance")
    assert.strictEqual(await outcome({ headers: headersOf({ ago: -310 }) }), "timestamp_outside_tolerance")
    assert.strictEqual(await outcome({ headers: headersOf({ ago: 310 }), options: { tolerance: 600 } }), "evt_1")
    assert.strictEqual(await outcome({ headers: headersOf({ ago: 310 }), options: service }), "evt_1")
  })

  it("rejects an old request from which the time was removed or changed", async () => {
    const old = headersOf({ ago: 900 })
    const { "webhook-timestamp": _, ...without } = old
    assert.strictEqual(await outcome({ headers: without }), "headers_missing")
    const now = `${Math.floor(Date.now() / 1000)}`
    assert.strictEqual(await outcome({ headers: { ...old, "webhook-timestamp": now } }), "signature_mismatch")
  })
})

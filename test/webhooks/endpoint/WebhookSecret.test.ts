import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Redacted, Schema } from "effect"
import * as NodeCrypto from "node:crypto"
import * as NodeUtil from "node:util"
import { Webhook } from "standardwebhooks"
import { type Attempt, generateSecret, sign, signingKey } from "../../../src/webhooks/endpoint/WebhookSecret.ts"

const body = Buffer.from("{\"id\":\"evt_1\",\"event\":\"message.sent\",\"data\":{\"content\":\"ümläut 🙂\"}}", "utf8")

const attemptAt = (timestamp: number, secret: Redacted.Redacted): Attempt => ({
  event: "message.sent",
  event_id: "evt_01HZX3T5K8Q2W4Y6B9D1F3H5J7",
  delivery_id: 77,
  attempt: 2,
  timestamp,
  body,
  key: signingKey(secret)
})

const now = Effect.map(Clock.currentTimeMillis, (millis) => Math.floor(millis / 1000))

const hexOf = (secret: Redacted.Redacted) =>
  NodeCrypto.createHmac("sha256", Redacted.value(secret)).update(body).digest("hex")

const verify = (secret: Redacted.Redacted, headers: Record<string, string>, raw: Buffer = body) =>
  Effect.try({
    try: () => new Webhook(Redacted.value(secret)).verify(raw.toString("utf8"), headers),
    catch: (error) => String(error)
  })

describe("generateSecret", () => {
  it("is whsec_ and the padded base64 of 32 bytes, never the same", () => {
    const secrets = Array.from({ length: 100 }, () => Redacted.value(generateSecret()))
    for (const secret of secrets) {
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
      assert.strictEqual(Buffer.from(secret.slice(6), "base64").length, 32)
    }
    assert.strictEqual(new Set(secrets).size, 100)
  })

  it("does not show when it or its keys are inspected", () => {
    const secret = generateSecret()
    const text = Redacted.value(secret).slice(6)
    assert.notInclude(NodeUtil.inspect([secret, signingKey(secret)], { depth: 9 }), text)
    assert.notInclude(JSON.stringify([secret, signingKey(secret)]), text)
  })
})

describe("sign", () => {
  it("tells the event, the delivery and the attempt", () => {
    const headers = sign(attemptAt(1_900_000_000, generateSecret()))
    assert.deepInclude(headers, {
      "content-type": "application/json",
      "X-Service-Event": "message.sent",
      "X-Service-Event-Id": "evt_01HZX3T5K8Q2W4Y6B9D1F3H5J7",
      "X-Service-Delivery-Id": "77",
      "X-Service-Attempt": "2",
      "webhook-id": "evt_01HZX3T5K8Q2W4Y6B9D1F3H5J7",
      "webhook-timestamp": "1900000000"
    })
    assert.isString(headers["user-agent"])
    assert.notProperty(headers, "X-Service-Test")
    assert.notProperty(headers, "X-Service-Signature-Previous")
  })

  it("signs the raw body with the whole secret, as plain createHmac does", () => {
    const secret = generateSecret()
    assert.strictEqual(sign(attemptAt(1, secret))["X-Service-Signature"], hexOf(secret))
  })

  it("gives the signature of the published Standard Webhooks example", () => {
    const secret = Redacted.make("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    const headers = sign({
      ...attemptAt(1_614_265_330, secret),
      event_id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      body: Buffer.from("{\"test\": 2432232314}")
    })
    assert.strictEqual(headers["webhook-signature"], "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  })

  it.live("is verified by the Standard Webhooks library", () =>
    Effect.gen(function*() {
      const secret = generateSecret()
      const headers = sign(attemptAt(yield* now, secret))
      assert.deepStrictEqual(yield* verify(secret, headers), JSON.parse(body.toString("utf8")))
    }))

  it.live("is refused by it with another secret, another body or an old time", () =>
    Effect.gen(function*() {
      const secret = generateSecret()
      const seconds = yield* now
      const headers = sign(attemptAt(seconds, secret))
      assert.match(yield* Effect.flip(verify(generateSecret(), headers)), /No matching signature/)
      assert.match(yield* Effect.flip(verify(secret, headers, Buffer.from("{}"))), /No matching signature/)
      const old = sign(attemptAt(seconds - 3600, secret))
      assert.match(yield* Effect.flip(verify(secret, old)), /too old/)
      assert.match(yield* Effect.flip(verify(secret, { ...old, "webhook-timestamp": String(seconds) })), /No matching/)
    }))

  it.live("verifies by either secret while a rotation overlaps", () =>
    Effect.gen(function*() {
      const [before, after] = [generateSecret(), generateSecret()]
      const headers = sign({ ...attemptAt(yield* now, after), previous_key: signingKey(before) })
      assert.strictEqual(headers["X-Service-Signature"], hexOf(after))
      assert.strictEqual(headers["X-Service-Signature-Previous"], hexOf(before))
      assert.lengthOf(String(headers["webhook-signature"]).split(" "), 2)
      yield* verify(before, headers)
      yield* verify(after, headers)
      assert.match(yield* Effect.flip(verify(generateSecret(), headers)), /No matching signature/)
    }))

  it("marks a test", () => {
    assert.strictEqual(sign({ ...attemptAt(1, generateSecret()), is_test: true })["X-Service-Test"], "true")
  })

  it.prop(
    "signs any bytes, and signs attempts of other times otherwise",
    [Schema.Uint8Array, Schema.Int],
    ([bytes]) => {
      const secret = generateSecret()
      const [one, other] = [
        sign({ ...attemptAt(1, secret), body: bytes }),
        sign({ ...attemptAt(2, secret), body: bytes })
      ]
      const expected = NodeCrypto.createHmac("sha256", Redacted.value(secret)).update(bytes).digest("hex")
      assert.strictEqual(one["X-Service-Signature"], expected)
      assert.strictEqual(other["X-Service-Signature"], expected)
      assert.notStrictEqual(one["webhook-signature"], other["webhook-signature"])
    }
  )
})

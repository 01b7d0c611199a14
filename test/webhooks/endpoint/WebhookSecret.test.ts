import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Redacted, Result, Schema } from "effect"
import * as NodeCrypto from "node:crypto"
import * as NodeUtil from "node:util"
import { Webhook } from "standardwebhooks"
import {
  type Attempt,
  generate,
  sign,
  signingKey,
  tolerance,
  verify
} from "../../../src/webhooks/endpoint/WebhookSecret.ts"

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

const verifyByLibrary = (secret: Redacted.Redacted, headers: Record<string, string>, raw: Buffer = body) =>
  Effect.try({
    try: () => new Webhook(Redacted.value(secret)).verify(raw.toString("utf8"), headers),
    catch: (error) => String(error)
  })

describe("generate", () => {
  it("returns whsec_ and the padded base64 of 32 bytes, each time different", () => {
    const secrets = Array.from({ length: 100 }, () => Redacted.value(generate()))
    for (const secret of secrets) {
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
      assert.strictEqual(Buffer.from(secret.slice(6), "base64").length, 32)
    }
    assert.strictEqual(new Set(secrets).size, 100)
  })

  it("hides the secret and its keys from inspection", () => {
    const secret = generate()
    const text = Redacted.value(secret).slice(6)
    assert.notInclude(NodeUtil.inspect([secret, signingKey(secret)], { depth: 9 }), text)
    assert.notInclude(JSON.stringify([secret, signingKey(secret)]), text)
  })
})

describe("sign", () => {
  it("names the event, the delivery and the attempt in headers", () => {
    const headers = sign(attemptAt(1_900_000_000, generate()))
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
    const secret = generate()
    assert.strictEqual(sign(attemptAt(1, secret))["X-Service-Signature"], hexOf(secret))
  })

  it("returns the signature of the published Standard Webhooks example", () => {
    const secret = Redacted.make("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    const headers = sign({
      ...attemptAt(1_614_265_330, secret),
      event_id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      body: Buffer.from("{\"test\": 2432232314}")
    })
    assert.strictEqual(headers["webhook-signature"], "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  })

  it.live("returns headers that the Standard Webhooks library verifies", () =>
    Effect.gen(function*() {
      const secret = generate()
      const headers = sign(attemptAt(yield* now, secret))
      assert.deepStrictEqual(yield* verifyByLibrary(secret, headers), JSON.parse(body.toString("utf8")))
    }))

  it.live("returns headers that the library rejects with another secret, body or an old time", () =>
    Effect.gen(function*() {
      const secret = generate()
      const seconds = yield* now
      const headers = sign(attemptAt(seconds, secret))
      assert.match(yield* Effect.flip(verifyByLibrary(generate(), headers)), /No matching signature/)
      assert.match(yield* Effect.flip(verifyByLibrary(secret, headers, Buffer.from("{}"))), /No matching signature/)
      const old = sign(attemptAt(seconds - 3600, secret))
      assert.match(yield* Effect.flip(verifyByLibrary(secret, old)), /too old/)
      assert.match(
        yield* Effect.flip(verifyByLibrary(secret, { ...old, "webhook-timestamp": String(seconds) })),
        /No matching/
      )
    }))

  it.live("signs with both secrets while a rotation overlaps", () =>
    Effect.gen(function*() {
      const [before, after] = [generate(), generate()]
      const headers = sign({ ...attemptAt(yield* now, after), previous_key: signingKey(before) })
      assert.strictEqual(headers["X-Service-Signature"], hexOf(after))
      assert.strictEqual(headers["X-Service-Signature-Previous"], hexOf(before))
      assert.lengthOf(String(headers["webhook-signature"]).split(" "), 2)
      yield* verifyByLibrary(before, headers)
      yield* verifyByLibrary(after, headers)
      assert.match(yield* Effect.flip(verifyByLibrary(generate(), headers)), /No matching signature/)
    }))

  it("marks a test with X-Service-Test", () => {
    assert.strictEqual(sign({ ...attemptAt(1, generate()), is_test: true })["X-Service-Test"], "true")
  })

  it.prop(
    "signs any bytes, and signs attempts at other times differently",
    [Schema.Uint8Array, Schema.Int],
    ([bytes]) => {
      const secret = generate()
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

const sentAt = 1_800_000_000

const received = (body: Uint8Array, by: Redacted.Redacted, previous?: Redacted.Redacted) => {
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

const failureOf = (result: Result.Result<void, string>) => Result.isFailure(result) ? result.failure : ""

describe("verify", () => {
  const secret = generate()

  it.prop(
    "accepts every body as it was signed",
    [Schema.Uint8Array],
    ([body]) => Result.isSuccess(verify(received(body, secret), secret, sentAt + 3))
  )

  it("rejects a changed body, another secret, another id and a replay", () => {
    const delivery = received(Buffer.from("{\"a\":1}"), secret)
    assert.match(
      failureOf(verify({ ...delivery, body: Buffer.from("{\"a\":2}") }, secret, sentAt)),
      /X-Service-Signature/
    )
    assert.match(failureOf(verify(delivery, generate(), sentAt)), /X-Service-Signature/)
    const headers = { ...delivery.headers, "webhook-id": "evt_other" }
    assert.match(failureOf(verify({ ...delivery, headers }, secret, sentAt)), /webhook-signature/)
    assert.match(failureOf(verify(delivery, secret, sentAt + tolerance + 1)), /replay/)
    assert.match(failureOf(verify({ ...delivery, headers: {} }, secret, sentAt)), /X-Service-Signature/)
  })

  it("accepts either secret while a rotation overlaps", () => {
    const next = generate()
    const delivery = received(Buffer.from("{}"), next, secret)
    assert.isTrue(Result.isSuccess(verify(delivery, next, sentAt)))
    assert.isTrue(Result.isSuccess(verify(delivery, secret, sentAt)))
  })
})

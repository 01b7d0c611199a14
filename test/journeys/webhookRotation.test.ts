import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeCrypto from "node:crypto"
import { Webhook } from "standardwebhooks"
import { ended, sendBulk } from "../support/bulkMail.ts"
import { placesOf } from "../support/placesOf.ts"
import { Relay } from "../support/Relay.ts"
import { eventually, makeAccount, type RunningNode, Service } from "../support/Service.ts"
import { makeWebhookReceiver, type ReceivedRequest, type WebhookReceiver } from "../support/WebhookReceiver.ts"

const create = Effect.fnUntraced(function*(node: RunningNode, key: string, url = "https://example.com/") {
  const answer = yield* node.request("POST", "/v1/webhooks", {
    key,
    json: { url, events: ["email.bulk_completed"] }
  })
  assert.strictEqual(answer.status, 201, answer.text)
  return { id: Number(answer.at("data", "id")), secret: String(answer.at("data", "secret")) }
})

const rotate = (node: RunningNode, key: string, id: number, json?: unknown) =>
  node.request("POST", `/v1/webhooks/${id}/rotate-secret`, { key, json })

/** Rotates and returns the new secret. */
const rotated = Effect.fnUntraced(function*(node: RunningNode, key: string, id: number, json?: unknown) {
  const answer = yield* rotate(node, key, id, json)
  assert.strictEqual(answer.status, 200, answer.text)
  return String(answer.at("data", "secret"))
})

/** Causes one event and returns the request that delivers it. */
const deliverOne = Effect.fnUntraced(function*(node: RunningNode, key: string, receiver: WebhookReceiver) {
  const before = receiver.requests.length
  const recipients = ["fine@people.example"]
  yield* ended(node, key, yield* sendBulk(node, key, { subject: "s", html: "h", recipients }))
  const request = (yield* receiver.received(before + 1))[before]
  return request ?? (yield* Effect.die(new Error("nothing came")))
})

const macOf = (secret: string, body: Buffer) => NodeCrypto.createHmac("sha256", secret).update(body).digest("hex")

/** Whether the Standard Webhooks library accepts the request under this secret. */
const passes = (secret: string, { body, headers }: ReceivedRequest) => {
  try {
    new Webhook(secret).verify(body.toString("utf8"), { ...headers })
    return true
  } catch {
    return false
  }
}

/** Which secrets made the request's two plain signatures, and which ones the library accepts. */
const signers = (request: ReceivedRequest, secrets: Readonly<Record<string, string>>) => {
  const owner = (header: string) =>
    Object.entries(secrets).find(([, secret]) => macOf(secret, request.body) === request.headers[header])?.[0]
  return {
    signature: owner("x-service-signature"),
    previous: owner("x-service-signature-previous"),
    standard: Object.entries(secrets).filter(([, secret]) => passes(secret, request)).map(([name]) => name),
    signatures: request.headers["webhook-signature"]?.split(" ").length
  }
}

layer(Relay.layer(), { excludeTestServices: true })("webhook secret rotation", (it) => {
  it.effect("the old secret signs beside the new one until the overlap ends", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      const receiver = yield* makeWebhookReceiver()
      const { id, secret: old } = yield* create(node, key, receiver.url)
      const fresh = yield* rotated(node, key, id, { overlap_seconds: 3600 })
      assert.match(fresh, /^whsec_[A-Za-z0-9+/]{43}=$/)
      assert.notStrictEqual(fresh, old)
      assert.deepStrictEqual(signers(yield* deliverOne(node, key, receiver), { old, fresh }), {
        signature: "fresh",
        previous: "old",
        standard: ["old", "fresh"],
        signatures: 2
      })
      yield* sql`update webhooks set previous_secret_until = now() where id = ${id}`
      // Changed directly in the database, so the actor notices within a second or two.
      const after = yield* eventually(
        deliverOne(node, key, receiver),
        (request) => signers(request, { old, fresh }).signatures === 1
      )
      assert.deepStrictEqual(signers(after, { old, fresh }), {
        signature: "fresh",
        previous: undefined,
        standard: ["fresh"],
        signatures: 1
      })
      assert.isUndefined(after.headers["x-service-signature-previous"])
    }))

  it.effect("an overlap of 0 ends the old secret at once and removes it from the row", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      const receiver = yield* makeWebhookReceiver()
      const { id, secret: old } = yield* create(node, key, receiver.url)
      const fresh = yield* rotated(node, key, id, { overlap_seconds: 0 })
      assert.deepStrictEqual(yield* sql`select previous_secret, previous_secret_until from webhooks where id = ${id}`, [
        { previous_secret: null, previous_secret_until: null }
      ])
      assert.deepStrictEqual(signers(yield* deliverOne(node, key, receiver), { old, fresh }), {
        signature: "fresh",
        previous: undefined,
        standard: ["fresh"],
        signatures: 1
      })
    }))

  it.effect("at most two secrets sign: a second rotation drops the first secret", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const receiver = yield* makeWebhookReceiver()
      const { id, secret: first } = yield* create(node, key, receiver.url)
      const second = yield* rotated(node, key, id)
      const third = yield* rotated(node, key, id)
      assert.deepStrictEqual(signers(yield* deliverOne(node, key, receiver), { first, second, third }), {
        signature: "third",
        previous: "second",
        standard: ["second", "third"],
        signatures: 2
      })
    }))

  it.effect("the overlap is a day by default, with an empty object or without a body", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      for (const json of [undefined, {}, { overlap_seconds: 604_800 }] as const) {
        const { id } = yield* create(node, key)
        yield* rotated(node, key, id, json)
        const [row] = yield* sql`select extract(epoch from previous_secret_until - updated_at)::integer as seconds
          from webhooks where id = ${id}`
        assert.strictEqual(row?.["seconds"], json?.overlap_seconds ?? 86_400)
      }
    }))

  it.effect("only the answer to the rotation shows the whole secret; later answers show the new one's beginning", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const { id, secret: old } = yield* create(node, key)
      const fresh = yield* rotated(node, key, id)
      const answers = yield* Effect.all([
        node.request("GET", `/v1/webhooks/${id}`, { key }),
        node.request("GET", "/v1/webhooks", { key }),
        node.request("PUT", `/v1/webhooks/${id}`, { key, json: { is_active: true } })
      ])
      const shown = fresh.slice(0, 12)
      assert.deepStrictEqual(
        answers.map(({ at }) => at("data", "secret") ?? at("data", 0, "secret")),
        [shown, shown, shown]
      )
      for (const { text } of answers) assert.isFalse(text.includes(old) || text.includes(fresh))
      const logged = node.logs.filter((line) => line.includes(old) || line.includes(fresh))
      assert.deepStrictEqual(logged, [])
    }))

  it.effect("no table contains a webhook's secrets or the values of its headers", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const receiver = yield* makeWebhookReceiver()
      const { key } = yield* makeAccount()
      const { id, secret: old } = yield* create(node, key, receiver.url)
      const value = "a value that only the endpoint knows"
      const changed = yield* node.request("PUT", `/v1/webhooks/${id}`, { key, json: { headers: { "x-gate": value } } })
      assert.strictEqual(changed.status, 200, changed.text)
      const fresh = yield* rotated(node, key, id)
      assert.strictEqual((yield* deliverOne(node, key, receiver)).headers["x-gate"], value)
      for (const secret of [old, fresh, value]) {
        assert.deepStrictEqual(yield* placesOf(secret), [])
        assert.deepStrictEqual(yield* placesOf(secret.slice(12)), [])
      }
    }))

  it.effect("a trial, another account or an invalid overlap cannot rotate the secret", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const { id, secret } = yield* create(node, key)
      const trial = yield* rotate(node, (yield* makeAccount({ trial: true })).key, id)
      assert.deepStrictEqual([trial.status, trial.at("error", "type")], [402, "subscription_required"])
      const foreign = yield* rotate(node, (yield* makeAccount()).key, id)
      assert.deepStrictEqual([foreign.status, foreign.at("error", "type")], [404, "not_found"])
      for (const overlap_seconds of [-1, 604_801, 1.5, "x", null]) {
        const refused = yield* rotate(node, key, id, { overlap_seconds })
        assert.deepStrictEqual(
          [refused.status, refused.at("error", "type"), refused.at("error", "param")],
          [422, "validation_error", "overlap_seconds"],
          refused.text
        )
      }
      const { at } = yield* node.request("GET", `/v1/webhooks/${id}`, { key })
      assert.strictEqual(at("data", "secret"), secret.slice(0, 12))
    }))

  it.effect("a repeated request with one Idempotency-Key rotates once", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const { id } = yield* create(node, key)
      const ask = node.request("POST", `/v1/webhooks/${id}/rotate-secret`, {
        key,
        json: { overlap_seconds: 60 },
        headers: { "idempotency-key": "rotate-1" }
      })
      const [first, second] = [yield* ask, yield* ask]
      assert.deepStrictEqual([first.status, second.status], [200, 200])
      assert.strictEqual(second.headers["idempotency-replayed"], "true")
      assert.strictEqual(second.text, first.text)
      const { at } = yield* node.request("GET", `/v1/webhooks/${id}`, { key })
      assert.strictEqual(at("data", "secret"), String(first.at("data", "secret")).slice(0, 12))
    }))
})

/** The TypeScript SDK against a node: what its unit tests answer themselves, a service answers here. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import {
  AuthenticationError,
  ConflictError,
  InsufficientScopeError,
  InvalidRequestError,
  MessagingClient,
  NotFoundError,
  RateLimitExceededError
} from "../../src/sdk/MessagingClient.ts"
import { eventually, makeAccount, makeKey, Service } from "../support/Service.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"

const mail = { to: "ada@example.com", subject: "Hello", text: "Hello Ada" }

const failure = (promise: PromiseLike<unknown>) =>
  Effect.promise(() => promise.then(() => undefined, (error: unknown) => error))

const clientOf = Effect.gen(function*() {
  const node = yield* Service
  const { accountId, key } = yield* makeAccount()
  return { accountId, client: new MessagingClient({ apiKey: key, baseUrl: node.baseUrl }), key, node }
})

layer(Service.layer(), { excludeTestServices: true })("the TypeScript SDK", (it) => {
  it.effect("sends a mail and verifies the events that its webhook gets", () =>
    Effect.gen(function*() {
      const { client } = yield* clientOf
      const receiver = yield* makeWebhookReceiver()
      const { id, secret } = yield* Effect.promise(() =>
        client.webhooks.create({ url: receiver.url, events: ["email.sent"] })
      )
      const sent = yield* Effect.promise(() => client.email.send(mail))
      const [request] = yield* receiver.received(1)
      const event = yield* Effect.promise(() =>
        client.webhooks.verify(request?.body ?? "", request?.headers ?? {}, secret)
      )
      assert.strictEqual(event.event === "email.sent" ? event.data.id : undefined, sent.id)
      const rotated = yield* Effect.promise(() => client.webhooks.rotateSecret(id, { overlap_seconds: 60 }))
      yield* Effect.promise(() => client.email.send(mail))
      const [, second] = yield* receiver.received(2)
      for (const held of [secret, rotated.secret, [secret, rotated.secret]]) {
        yield* Effect.promise(() => client.webhooks.verify(second?.body ?? "", second?.headers ?? {}, held))
      }
      const deliveries = yield* Effect.promise(() => client.webhooks.deliveries.list(id))
      assert.strictEqual(deliveries.data.length, 2)
      yield* Effect.promise(() => client.webhooks.delete(id))
      assert.instanceOf(yield* failure(client.webhooks.get(id)), NotFoundError)
    }))

  it.effect("a request repeated with its idempotency key takes effect once", () =>
    Effect.gen(function*() {
      const { client } = yield* clientOf
      const replays: Array<boolean> = []
      const options = {
        idempotencyKey: "receipt-1",
        onResponse: (facts: { readonly replayed: boolean }) => void replays.push(facts.replayed)
      }
      const first = yield* Effect.promise(() => client.email.send(mail, options))
      const second = yield* Effect.promise(() => client.email.send(mail, options))
      assert.deepStrictEqual([second.id, replays], [first.id, [false, true]])
      assert.instanceOf(yield* failure(client.email.send({ ...mail, subject: "Other" }, options)), ConflictError)
    }))

  it.effect("a list yields every row of all pages", () =>
    Effect.gen(function*() {
      const { client } = yield* clientOf
      const batch = yield* Effect.promise(() =>
        client.email.sendBulk({
          subject: "Hello",
          html: "<p>Hello</p>",
          recipients: Array.from({ length: 7 }, (_, index) => `reader${index}@example.com`)
        })
      )
      const to = new Set<string>()
      yield* Effect.promise(async () => {
        for await (const row of client.email.batches.recipients(batch.batch_id, { per_page: 3 })) to.add(row.to)
      })
      assert.strictEqual(to.size, 7)
      const done = yield* eventually(
        Effect.promise(() => client.email.batches.get(batch.batch_id)),
        ({ status }) => status === "completed"
      )
      assert.strictEqual(done.sent, 7)
    }))

  it.effect("refusals of the service are typed", () =>
    Effect.gen(function*() {
      const { accountId, client, node } = yield* clientOf
      const invalid = yield* failure(client.email.send({ to: "nowhere" }))
      assert.instanceOf(invalid, InvalidRequestError)
      assert.include(invalid.errors.map(({ param }) => param), "to")
      assert.match(invalid.request_id ?? "", /^[0-9a-f-]{36}$/)
      assert.include(invalid.doc_url ?? "", "#validation_error")
      const { baseUrl } = node
      const stranger = new MessagingClient({ apiKey: "sk_live_no", baseUrl })
      assert.instanceOf(yield* failure(stranger.account.get()), AuthenticationError)
      const { key } = yield* makeKey(accountId, { scopes: ["sms:write"] })
      const narrow = yield* failure(new MessagingClient({ apiKey: key, baseUrl }).email.send(mail))
      assert.instanceOf(narrow, InsufficientScopeError)
      assert.deepStrictEqual(narrow.required, ["email:write"])
    }))

  it.effect("other channels and answers of other shapes arrive whole", () =>
    Effect.gen(function*() {
      const { client } = yield* clientOf
      const sms = yield* Effect.promise(() => client.sms.send({ to: "+250788123456", content: "Ready" }))
      assert.strictEqual((yield* Effect.promise(() => client.sms.get(sms.message_id))).to, "+250788123456")
      const code = yield* Effect.promise(() => client.verify.send({ to: "+250788123457" }))
      const check = yield* Effect.promise(() => client.verify.check({ id: code.id, code: "000000" }))
      assert.strictEqual(check.valid, false)
      const prices = yield* Effect.promise(() => client.sms.pricing({ country: "RW" }))
      assert.isNotEmpty(prices.data)
      const session = yield* Effect.promise(() => client.whatsapp.sessions.create({ name: "Shop" }))
      assert.match(session.qr_code, /^data:image\/png/)
      const sessions = yield* Effect.promise(() => client.whatsapp.sessions.list())
      assert.deepStrictEqual(sessions.data.map(({ id }) => id), [session.id])
      assert.isUndefined(yield* Effect.promise(() => client.whatsapp.sessions.delete(session.id)))
      assert.isDefined(yield* Effect.promise(() => client.request("GET", "/health/live")))
    }))
})

layer(Service.layer({ env: { RATE_LIMIT_ENTERPRISE: "2" } }), { excludeTestServices: true })(
  "the TypeScript SDK at a rate limit",
  (it) => {
    it.effect("learns from the service how long to wait", () =>
      Effect.gen(function*() {
        const { client } = yield* clientOf
        const refused = yield* failure(
          Array.from({ length: 5 }).reduce<Promise<unknown>>(
            (before) => before.then(() => client.account.get({ maxRetries: 0 })),
            Promise.resolve()
          )
        )
        assert.instanceOf(refused, RateLimitExceededError)
        assert.isAtLeast(refused.retry_after ?? 0, 1)
        assert.strictEqual(refused.limit, 2)
      }))
  }
)

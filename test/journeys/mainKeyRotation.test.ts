import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ended, readMail, sendBulk } from "../support/bulkMail.ts"
import { cli, sandboxed } from "../support/cli.ts"
import { makeAccount, type RunningNode, startNode } from "../support/Service.ts"
import { signedEvent } from "../support/signedEvent.ts"
import * as SmtpSink from "../support/SmtpSink.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { makeWebhookReceiver, type WebhookReceiver } from "../support/WebhookReceiver.ts"

const key = (byte: number) => Buffer.alloc(32, byte).toString("base64")
const [old, fresh] = [key(1), key(2)]

const before = { ENCRYPTION_KEY: old }
const during = { ENCRYPTION_KEY: fresh, ENCRYPTION_KEY_PREVIOUS: old }
const after = { ENCRYPTION_KEY: fresh }

/** Runs a command with these main keys on the test's database. */
const command = Effect.fnUntraced(function*(name: string, keys: Readonly<Record<string, string>>) {
  const { url } = yield* TestDatabase
  return yield* cli([name], { DATABASE_URL: url, ...sandboxed, ...keys })
})

const createWebhook = Effect.fnUntraced(function*(node: RunningNode, apiKey: string, url: string) {
  const answer = yield* node.request("POST", "/v1/webhooks", {
    key: apiKey,
    json: { url, events: ["email.bulk_completed"], headers: { "X-Team": "ops" } },
    headers: { "idempotency-key": `made for ${url}`.replaceAll(" ", "-") }
  })
  assert.strictEqual(answer.status, 201, answer.text)
  return { answer, secret: String(answer.at("data", "secret")) }
})

/** Sends one mail, checks that its event is signed with each webhook's secret, and returns its unsubscribe link. */
const mailAndEvent = Effect.fnUntraced(function*(
  node: RunningNode,
  world: {
    readonly apiKey: string
    readonly sink: SmtpSink.SmtpSink
    readonly hooks: ReadonlyArray<readonly [WebhookReceiver, string]>
  }
) {
  const counts = world.hooks.map(([receiver]) => receiver.requests.length)
  const recipients = ["fine@people.example"]
  yield* ended(node, world.apiKey, yield* sendBulk(node, world.apiKey, { subject: "s", html: "h", recipients }))
  for (const [index, [receiver, secret]] of world.hooks.entries()) {
    const request = (yield* receiver.received((counts[index] ?? 0) + 1)).at(-1)
    if (request === undefined) return yield* Effect.die(new Error("no event came"))
    assert.strictEqual(signedEvent(request, secret).event, "email.bulk_completed")
    assert.strictEqual(request.headers["x-team"], "ops")
  }
  const { field } = yield* readMail(world.sink.messages.at(-1)?.raw ?? Buffer.alloc(0))
  return new URL(field("list-unsubscribe").join().slice(1, -1)).pathname
})

const idsInForce = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`select distinct substring(secret from 2 for 4) as id from webhooks`
  return rows.length
})

layer(TestDatabase.layer, { excludeTestServices: true })("main key rotation", (it) => {
  it.effect(
    "the main key changes while a node runs, and everything sealed or signed before stays valid",
    () =>
      Effect.gen(function*() {
        const sink = yield* SmtpSink.make({ script: SmtpSink.localPartScript })
        const start = (env: Readonly<Record<string, string>>) => startNode({ env, smtpPort: sink.port })

        const first = yield* start(before)
        const { key: apiKey } = yield* makeAccount()
        const receiver = yield* makeWebhookReceiver()
        const { answer: created, secret } = yield* createWebhook(first, apiKey, receiver.url)
        const hook = [receiver, secret] as const
        const link = yield* mailAndEvent(first, { apiKey, sink, hooks: [hook] })
        yield* first.stop()

        const refused = yield* command("serve", after)
        assert.strictEqual(refused.code, 1)
        assert.match(refused.stderr, /^ENCRYPTION_KEY is not the main key .*ENCRYPTION_KEY_PREVIOUS.*rotate-key/m)
        const alike = yield* command("serve", { ENCRYPTION_KEY: old, ENCRYPTION_KEY_PREVIOUS: old })
        assert.include(
          alike.stderr,
          "\nENCRYPTION_KEY_PREVIOUS must be another key than ENCRYPTION_KEY, but it is \"********\".\n"
        )

        const second = yield* start(during)
        const other = yield* makeWebhookReceiver()
        const made = yield* createWebhook(second, apiKey, other.url)
        const hooks = [hook, [other, made.secret] as const]
        assert.strictEqual(yield* idsInForce, 2)
        yield* mailAndEvent(second, { apiKey, sink, hooks: [hook] })
        assert.match(
          (yield* command("doctor", during)).stdout,
          /^ok {4}secrets: [1-9]\d* stored secrets are not yet encrypted with ENCRYPTION_KEY/m
        )

        const rotation = yield* command("rotate-key", during)
        assert.deepStrictEqual([rotation.code, rotation.stderr], [0, ""])
        assert.match(
          rotation.stdout,
          /^keyring\.sealed: 10\nwebhooks\.secret: 1\nwebhooks\.headers: 1\nidempotency_records\.body: 1\nmain_key_probe/
        )
        assert.match(
          rotation.stdout,
          /No other key is in use\.\nYou can remove ENCRYPTION_KEY_PREVIOUS now\.\n$/
        )
        assert.strictEqual(yield* idsInForce, 1)
        yield* mailAndEvent(second, { apiKey, sink, hooks })
        const again = yield* command("rotate-key", during)
        assert.match(again.stdout, /^Stored secrets rewrapped with ENCRYPTION_KEY: 0\. No/)
        assert.match((yield* command("doctor", during)).stdout, /^ok {4}secrets: .*; remove ENCRYPTION_KEY_PREVIOUS$/m)
        yield* second.stop()

        assert.match((yield* command("serve", before)).stderr, /^ENCRYPTION_KEY is not the main key/m)
        assert.match(
          (yield* command("doctor", after)).stdout,
          /^ok {4}secrets: .*all stored secrets are encrypted with it$/m
        )
        const third = yield* start(after)
        yield* mailAndEvent(third, { apiKey, sink, hooks })
        const replayed = yield* createWebhook(third, apiKey, receiver.url)
        assert.strictEqual(replayed.answer.headers["idempotency-replayed"], "true")
        assert.strictEqual(replayed.answer.text, created.text)
        const page = yield* third.request("GET", link)
        assert.deepStrictEqual([page.status, page.text.includes("fine@people.example")], [200, true])
      }).pipe(Effect.scoped)
  )
})

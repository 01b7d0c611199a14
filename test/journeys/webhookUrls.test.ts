import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { privateHosts } from "../support/privateHosts.ts"
import { type Answer, makeAccount, type RunningNode, Service } from "../support/Service.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"

const fine = "https://example.com/hook"

/** An account with a webhook, and requests to create another or change this one: both must refuse the same. */
const asker = Effect.fnUntraced(function*(node: RunningNode) {
  const { accountId, key } = yield* makeAccount()
  const made = yield* node.request("POST", "/v1/webhooks", { key, json: { url: fine, events: ["email.sent"] } })
  const path = `/v1/webhooks/${String(made.at("data", "id"))}`
  return {
    accountId,
    key,
    path,
    create: (json: object) =>
      node.request("POST", "/v1/webhooks", { key, json: { url: fine, events: ["*"], ...json } }),
    change: (json: object) => node.request("PUT", path, { key, json })
  }
})

/** All reported errors, as `param: message`. */
const problems = ({ at }: Answer): ReadonlyArray<string> => {
  const errors = at("error", "errors")
  return Array.isArray(errors) ? errors.map(({ message, param }) => `${param}: ${message}`) : []
}

const assertRefused = (answer: Answer, what: string, wanted: { readonly type: string; readonly message: RegExp }) => {
  assert.deepStrictEqual(
    [answer.status, answer.at("error", "type"), answer.at("error", "param"), answer.at("error", "errors", 0, "type")],
    [422, "validation_error", "url", wanted.type],
    `${what}: ${answer.text}`
  )
  assert.match(String(answer.at("error", "errors", 0, "message")), wanted.message, what)
}

/** Invalid webhook URLs, each with part of its message. */
const badUrls: ReadonlyArray<readonly [url: unknown, message: RegExp]> = [
  ["", /must not be empty/],
  [" ", /must be a URL that starts with https:\/\//],
  [" https://example.com/", /must be a URL/],
  ["example.com/hook", /must be a URL/],
  ["//example.com/", /must be a URL/],
  ["https://", /must be a URL/],
  ["https://a b/", /must be a URL/],
  ["https://1.1.1.1.1/", /must be a URL/],
  ["https://256.1.1.1/", /must be a URL/],
  ["https://[fe80::1%25eth0]/", /must be a URL/],
  ["https://example.com:65536/", /must be a URL/],
  ["ftp://example.com/", /must be a URL/],
  ["file:///etc/passwd", /must be a URL/],
  ["javascript:alert(1)", /must be a URL/],
  ["http://example.com/", /must start with https:\/\//],
  ["http://127.0.0.1/", /must start with https:\/\//],
  ["https://a..example/", /not a host name/],
  ["https://user:hunter2@example.com/", /must not contain a user name or password/],
  ["https://hunter2@example.com/", /must not contain a user name or password/],
  ["https://example.com/#top", /must not contain a fragment/],
  [`https://example.com/${"a".repeat(2980)}`, /at most 2048 characters/],
  [`https://example.com/${"ü".repeat(1000)}`, /at most 2048 characters/],
  ["https://exa\nmple.com/\r\nX-Header: 1", /must not contain control characters/],
  ["https://example.com/\0", /must not contain a NUL/],
  ["https://example.com/\ud800", /must be well-formed Unicode/],
  [null, /must be a string/],
  [42, /must be a string/],
  [[fine], /must be a string/],
  [{ href: fine }, /must be a string/]
]

const mailPorts = [25, 110, 143, 465, 587, 993, 995, 2525]
const closedPorts = [0, 1, 22, 23, 53, 79, 81, 442, 444, 1023, 3306, 5432, 6379, 9200, 11211, 27017]
const openPorts = [1024, 8443, 50000, 65535]

layer(Service.layer({ env: { WEBHOOK_ALLOW_LOOPBACK: "false" } }), { excludeTestServices: true })(
  "webhook URLs in production",
  (it) => {
    it.effect("a URL to a private address is refused in every spelling, at creation and change", () =>
      Effect.gen(function*() {
        const receiver = yield* makeWebhookReceiver({ host: "::" })
        const { change, create } = yield* asker(yield* Service)
        for (const [what, host] of privateHosts) {
          const isTrick = host.includes("@")
          const wanted = {
            type: isTrick ? "invalid" : "blocked_address",
            message: isTrick ? /user name/ : /(is not public|is this machine): use a public host/
          }
          const url = `https://${host}:${receiver.port}/hook`
          assertRefused(yield* create({ url }), what, wanted)
          assertRefused(yield* change({ url }), what, wanted)
        }
        assert.strictEqual(receiver.connections(), 0)
      }))

    it.effect("a URL of this machine is refused with the setting that allows it", () =>
      Effect.gen(function*() {
        const { create } = yield* asker(yield* Service)
        for (const url of ["http://127.0.0.1:9000/", "http://localhost:9000/", "https://[::1]:9000/"]) {
          assert.match((yield* create({ url })).text, /allow this machine with WEBHOOK_ALLOW_LOOPBACK=true/, url)
        }
        for (const url of ["http://127.0.0.1:11211/", "http://user:word@127.0.0.1:9000/"]) {
          assert.notMatch((yield* create({ url })).text, /WEBHOOK_ALLOW_LOOPBACK/, `${url} is refused with it too`)
        }
      }))

    it.effect("a URL that is not https with one host is refused with a reason that does not repeat its password", () =>
      Effect.gen(function*() {
        const { accountId, change, create } = yield* asker(yield* Service)
        const sql = yield* SqlClient.SqlClient
        for (const [url, message] of badUrls) {
          for (const answer of [yield* create({ url }), yield* change({ url })]) {
            assertRefused(answer, JSON.stringify(url), { type: "invalid", message })
            assert.notInclude(answer.text, "hunter2")
          }
        }
        assert.deepStrictEqual(yield* sql`select url from webhooks where account_id = ${accountId}`, [{ url: fine }])
      }))

    it.effect("ports of mail and other protocols are refused, and 443, 80 and ports from 1024 are accepted", () =>
      Effect.gen(function*() {
        const { change, create } = yield* asker(yield* Service)
        for (const port of [...mailPorts, ...closedPorts]) {
          const url = `https://example.com:${port}/`
          const wanted = { type: "invalid", message: new RegExp(`^port ${port} is not allowed`) }
          assertRefused(yield* create({ url }), url, wanted)
          assertRefused(yield* change({ url }), url, wanted)
        }
        for (
          const [port, stored] of [
            [443, ""],
            [80, ":80"],
            ...openPorts.map((open) => [open, `:${open}`] as const)
          ]
        ) {
          const { at } = yield* change({ url: `https://example.com:${port}/` })
          assert.strictEqual(at("data", "url"), `https://example.com${stored}/`)
        }
      }))

    it.effect("a URL is stored in its normalised form", () =>
      Effect.gen(function*() {
        const { change } = yield* asker(yield* Service)
        for (
          const [url, stored] of [
            ["HTTPS://EXAMPLE.COM", "https://example.com/"],
            ["https://example.com\\@10.0.0.1/", "https://example.com/@10.0.0.1/"],
            ["https://bücher.example./ü", "https://xn--bcher-kva.example/%C3%BC"],
            ["https://134744072/", "https://8.8.8.8/"]
          ] as const
        ) {
          assert.strictEqual((yield* change({ url })).at("data", "url"), stored)
        }
      }))
  }
)

layer(Service.layer(), { excludeTestServices: true })("webhook event lists", (it) => {
  const assertEvents = (answer: Answer, events: unknown, wanted: ReadonlyArray<RegExp>) => {
    const found = problems(answer)
    assert.strictEqual(answer.status, 422, `${JSON.stringify(events).slice(0, 60)}: ${answer.text}`)
    assert.strictEqual(found.length, wanted.length, answer.text)
    for (const [index, message] of wanted.entries()) assert.match(found[index] ?? "", message)
  }

  it.effect("an invalid list is refused with the index and a suggestion for each wrong event", () =>
    Effect.gen(function*() {
      const { change, create, key, path } = yield* asker(yield* Service)
      const cases: ReadonlyArray<readonly [events: unknown, problems: ReadonlyArray<RegExp>]> = [
        [[], [/^events: name at least one event, or "\*" for all$/]],
        ["*", [/^events: must be an array$/]],
        [null, [/^events: must be an array$/]],
        [{ 0: "*" }, [/^events: must be an array$/]],
        [["*", 1, null, ["*"]], [/^events\[1\]: must be a string$/, /^events\[2\]/, /^events\[3\]/]],
        [["email.sent", "email.snt"], [/^events\[1\]: unknown event "email.snt", did you mean email\.sent\?$/]],
        [["MESSAGE.SENT"], [/did you mean message\.sent\?$/]],
        [[" email.sent"], [/did you mean email\.sent\?$/]],
        [["message*", "nonsense"], [/^events\[0\].*did you mean message\.\*\?$/, /^events\[1\].*use "\*", a prefix/]],
        [["**", "*.sent", ".*", ""], [/\*\*/, /\*\.sent/, /\.\*/, /unknown event ""/]],
        [["__proto__", "constructor"], [/__proto__/, /constructor/]],
        [["a".repeat(101)], [/^events\[0\]: must have at most 100 characters$/]]
      ]
      for (const [events, wanted] of cases) {
        assertEvents(yield* create({ events }), events, wanted)
        assertEvents(yield* change({ events }), events, wanted)
      }
      const { at } = yield* (yield* Service).request("GET", path, { key })
      assert.deepStrictEqual(at("data", "events"), ["email.sent"])
    }))

  it.effect("a list has at most 100 events, counted before duplicates are dropped", () =>
    Effect.gen(function*() {
      const { change, create } = yield* asker(yield* Service)
      const tooMany = [/^events: at most 100 events$/]
      const names = ["email.sent", "message.*", "email.sent", "*", "message.*"]
      for (
        const events of [
          Array.from({ length: 200 }, (_, index) => `message.number${index}`),
          Array.from({ length: 101 }, () => "email.sent")
        ]
      ) {
        assertEvents(yield* create({ events }), events, tooMany)
        assertEvents(yield* change({ events }), events, tooMany)
      }
      const hundred = Array.from({ length: 100 }, (_, index) => names[index % names.length])
      for (const answer of [yield* create({ events: hundred }), yield* change({ events: hundred })]) {
        assert.deepStrictEqual(answer.at("data", "events"), ["email.sent", "message.*", "*"])
      }
    }))

  it.effect("a list of 150,000 unknown events is refused by its size", () =>
    Effect.gen(function*() {
      const { create } = yield* asker(yield* Service)
      const { at, status } = yield* create({ events: Array.from({ length: 150_000 }, (_, index) => `e${index}`) })
      assert.deepStrictEqual([status, at("error", "type")], [413, "payload_too_large"])
    }))

  it.effect("a list of 400 unknown events is refused by its length alone", () =>
    Effect.gen(function*() {
      const { create } = yield* asker(yield* Service)
      const events = Array.from({ length: 400 }, (_, index) => `e${index}`)
      assertEvents(yield* create({ events }), events, [/^events: at most 100 events$/])
    }))

  it.effect("the message of an error that suggests an event ends with a question mark", () =>
    Effect.gen(function*() {
      const { create } = yield* asker(yield* Service)
      const { at } = yield* create({ events: ["email.snt"] })
      assert.strictEqual(at("error", "message"), `events[0]: unknown event "email.snt", did you mean email.sent?`)
    }))
})

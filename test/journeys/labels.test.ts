import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { assertRefused } from "../contract/contract.ts"
import { asking } from "../support/bulkMail.ts"
import { eventually, makeAccount, type RunningNode, Service } from "../support/Service.ts"
import { makeListener } from "../support/singleMail.ts"
import { freshNumber } from "../support/sms.ts"
import { pairedSession, WhatsApp } from "../support/WhatsApp.ts"
import { unpaced } from "../support/whatsAppMessages.ts"

const given = { tags: ["booking", "vip:1"], metadata: { order: "A-17", "ключ": "значение", empty: "" } }

const bodies = {
  "/v1/email/send": { to: "one@people.example", subject: "s", text: "t" },
  "/v1/email/send-bulk": { recipients: ["two@people.example", "three@people.example"], subject: "s", html: "<p>h</p>" },
  "/v1/sms/send": { to: "+250788123456", content: "Hello" },
  "/v1/sms/send-bulk": { recipients: ["+250788123456", "+250788123457"], content: "Hello" },
  "/v1/whatsapp/send": { session_id: 1, to: "+250788123456", content: "Hello" },
  "/v1/whatsapp/send-bulk": { session_id: 1, recipients: ["+250788123456"], content: "Hello" },
  "/v1/messages": { to: { phone: "+250788123456" }, steps: [{ channel: "sms", content: "Hello" }] }
} as const

const sends = Object.keys(bodies) as ReadonlyArray<keyof typeof bodies>

/** Why the request is refused, its fields, and the parameter that the answer names. */
const refused: ReadonlyArray<readonly [what: string, fields: Record<string, unknown>, param: string, says: RegExp]> = [
  ["eleven tags", { tags: Array.from({ length: 11 }, (_, index) => `t${index}`) }, "tags", /at most 10 tags/],
  ["a tag of 65 characters", { tags: ["a".repeat(65)] }, "tags[0]", /1 to 64 characters/],
  ["an empty tag", { tags: ["ok", ""] }, "tags[1]", /1 to 64 characters/],
  ["a tag with a space", { tags: ["a b"] }, "tags[0]", /1 to 64 characters/],
  ["a tag that is a number", { tags: [7] }, "tags[0]", /must be a string/],
  ["tags in one string", { tags: "booking" }, "tags", /must be an array/],
  ["nested metadata", { metadata: { order: { id: "A-17" } } }, "metadata.order", /must be a string/],
  ["metadata that is a number", { metadata: { order: 17 } }, "metadata.order", /must be a string/],
  [
    "21 keys of metadata",
    { metadata: Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`k${index}`, ""])) },
    "metadata",
    /at most 20 keys/
  ],
  ["a key of 41 characters", { metadata: { ["k".repeat(41)]: "v" } }, "metadata", /1 to 40 characters/],
  ["an empty key", { metadata: { "": "v" } }, "metadata", /1 to 40 characters/],
  ["a value of 501 characters", { metadata: { k: "v".repeat(501) } }, "metadata.k", /at most 500 characters/],
  ["a NUL in metadata", { metadata: { k: "a\0b" } }, "metadata.k", /NUL/],
  ["metadata in an array", { metadata: ["a"] }, "metadata", /must be an object/]
]

/** The ids that a list answers with. */
const idsOf = Effect.fnUntraced(function*(node: RunningNode, key: string, path: string) {
  const list = yield* node.request("GET", path, { key })
  assert.strictEqual(list.status, 200, list.text)
  const rows = list.at("data") as ReadonlyArray<Readonly<Record<string, unknown>>>
  assert.strictEqual(list.at("meta", "total"), rows.length)
  return rows.map((row) => String(row["id"] ?? row["batch_id"]))
})

layer(WhatsApp.layer({ env: { ...unpaced, SANDBOX_SMS_DELAY_MS: "50" } }), {
  excludeTestServices: true
})((it) => {
  describe("tags and metadata", () => {
    for (const [what, fields, param, says] of refused) {
      it.effect(`every send refuses ${what} with 422`, () =>
        Effect.gen(function*() {
          const node = yield* Service
          const { key } = yield* makeAccount()
          for (const path of sends) {
            const answer = yield* node.request("POST", path, { key, json: { ...bodies[path], ...fields } })
            assertRefused(answer, 422, "validation_error")
            assert.strictEqual(answer.at("error", "param"), param, `${path} ${answer.text}`)
            assert.match(String(answer.at("error", "errors", 0, "message")), says)
          }
        }))
    }

    it.effect("a megabyte of metadata is refused with 413 or 422, and nothing is stored", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        for (const path of sends) {
          const json = { ...bodies[path], metadata: { k: "v".repeat(1_048_576) } }
          const { status } = yield* node.request("POST", path, { key, json })
          assert.include([413, 422], status, path)
        }
        assert.deepStrictEqual(yield* idsOf(node, key, "/v1/email/messages"), [])
      }))

    it.effect("an email shows its tags and its metadata in its record and in its events", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key, received } = yield* makeListener(node, ["email.*"])
        const json = { ...bodies["/v1/email/send"], ...given, tags: [...given.tags, "booking"] }
        const id = (yield* node.request("POST", "/v1/email/send", { key, json })).at("data", "id")
        const { at } = yield* node.request("GET", `/v1/email/messages/${String(id)}`, { key })
        assert.deepInclude(at("data"), { ...given, send_at: null })
        const [event] = yield* received(1)
        assert.deepInclude(event?.data, { id, ...given })
      }))

    it.effect("a batch of email shows them in its record, its messages, their events and its last event", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key, received } = yield* makeListener(node, ["email.*"])
        const json = { ...bodies["/v1/email/send-bulk"], ...given }
        const batch = String((yield* node.request("POST", "/v1/email/send-bulk", { key, json })).at("data", "batch_id"))
        const { at } = yield* node.request("GET", `/v1/email/batches/${batch}`, { key })
        assert.deepInclude(at("data"), { ...given, send_at: null })
        for (const event of yield* received(3)) assert.deepInclude(event.data, given)
        assert.strictEqual((yield* idsOf(node, key, "/v1/email/messages?tag=booking&tag=vip:1")).length, 2)
        assert.deepStrictEqual(yield* idsOf(node, key, "/v1/email/batches?tag=booking"), [batch])
        assert.deepStrictEqual(yield* idsOf(node, key, "/v1/email/batches?tag=booking&tag=other"), [])
      }))

    it.effect("SMS show them in their records and in each of their events", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key, received } = yield* makeListener(node, ["message.*", "sms.*"])
        const json = { to: freshNumber(), content: "Hello", ...given }
        const id = (yield* node.request("POST", "/v1/sms/send", { key, json })).at("data", "id")
        const bulk = { recipients: [freshNumber()], content: "Hello", ...given }
        const batch = (yield* node.request("POST", "/v1/sms/send-bulk", { key, json: bulk })).at("data", "batch_id")
        for (const path of [`messages/${String(id)}`, `batches/${String(batch)}`]) {
          const { at } = yield* node.request("GET", `/v1/sms/${path}`, { key })
          assert.deepInclude(at("data"), { ...given, send_at: null })
        }
        for (const event of yield* received(4)) assert.deepInclude(event.data, given)
        assert.strictEqual((yield* idsOf(node, key, "/v1/sms/messages?tag=vip:1&tag=booking")).length, 2)
        assert.deepStrictEqual(yield* idsOf(node, key, "/v1/sms/batches?tag=vip:1"), [String(batch)])
      }))

    it.effect("WhatsApp messages show them in their records and in each of their events", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { phone } = yield* WhatsApp
        const { key, received } = yield* makeListener(node, ["message.*"])
        const session = yield* pairedSession(node, key)
        const common = { session_id: session.id, content: "Hello", ...given }
        const to = `+${yield* phone}`
        const single = yield* node.request("POST", "/v1/whatsapp/send", { key, json: { ...common, to } })
        const bulk = yield* node.request("POST", "/v1/whatsapp/send-bulk", {
          key,
          json: { ...common, recipients: [to] }
        })
        for (
          const path of [
            `messages/${String(single.at("data", "id"))}`,
            `batches/${String(bulk.at("data", "batch_id"))}`
          ]
        ) {
          const { at } = yield* node.request("GET", `/v1/whatsapp/${path}`, { key })
          assert.deepInclude(at("data"), { ...given, send_at: null })
        }
        for (const event of yield* received(6)) assert.deepInclude(event.data, given)
        assert.strictEqual((yield* idsOf(node, key, "/v1/whatsapp/messages?tag=vip:1&tag=booking")).length, 2)
      }))

    it.effect("a list with tag has messages of one account that have all of the tags", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const other = yield* makeAccount()
        const send = (tags: ReadonlyArray<string>, as = key) =>
          Effect.map(
            node.request("POST", "/v1/email/send", { key: as, json: { ...bodies["/v1/email/send"], tags } }),
            ({ at }) => String(at("data", "id"))
          )
        const both = yield* send(["a", "b"])
        const one = yield* send(["a"])
        yield* send([])
        yield* send(["a", "b"], other.key)
        assert.deepStrictEqual(yield* idsOf(node, key, "/v1/email/messages?tag=a"), [one, both])
        assert.deepStrictEqual(yield* idsOf(node, key, "/v1/email/messages?tag=a&tag=b"), [both])
        assert.deepStrictEqual(yield* idsOf(node, key, "/v1/email/history?tag=b"), [both])
        assertRefused(yield* node.request("GET", "/v1/email/messages?tag=a%20b", { key }), 422, "validation_error")
      }))

    it.effect("usage with tag counts the messages that have it", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const send = (path: keyof typeof bodies, tags: ReadonlyArray<string>) =>
          node.request("POST", path, { key, json: { ...bodies[path], tags } })
        yield* send("/v1/email/send-bulk", ["march"])
        yield* send("/v1/email/send", ["april"])
        const { at } = yield* send("/v1/sms/send-bulk", ["march"])
        const used = yield* asking(
          node.request("GET", "/v1/account/usage?tag=march", { key }),
          (answer) => JSON.stringify(answer.json).includes("\"email_sent\",\"count\":2")
        )
        assert.deepStrictEqual(used.at("data", "metrics"), [
          { metric: "email", count: 2, cost_usd: 0 },
          { metric: "email_sent", count: 2, cost_usd: 0 },
          { metric: "sms", count: 2, cost_usd: 0 },
          { metric: "sms_segments", count: 2, cost_usd: at("data", "cost_usd") }
        ])
        const daily = yield* node.request("GET", "/v1/account/usage/daily?tag=april", { key })
        assert.strictEqual(daily.at("data", 0, "count"), 1)
        const none = yield* node.request("GET", "/v1/account/usage?tag=march&tag=april", { key })
        assert.deepStrictEqual(none.at("data", "metrics"), [])
      }))

    it.effect("no log line of a node has the metadata of a message", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const metadata = { secret: "metadata-that-no-log-has" }
        for (const path of ["/v1/email/send", "/v1/sms/send"] as const) {
          yield* node.request("POST", path, { key, json: { ...bodies[path], metadata } })
        }
        const failing = { ...bodies["/v1/email/send"], metadata, subject: 7 }
        yield* node.request("POST", "/v1/email/send", { key, json: failing })
        yield* eventually(
          node.request("GET", "/v1/email/messages?status=sent", { key }),
          ({ at }) => at("meta", "total") === 1
        )
        assert.deepStrictEqual(node.logs.filter((line) => line.includes(metadata.secret)), [])
      }))
  })
})

/** The sandbox as a test suite uses it: it waits for messages, reads and deletes them. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as NodeOs from "node:os"
import { eventually, makeAccount, type RunningNode, Service, startNode } from "../support/Service.ts"
import { freshNumber, sendSms } from "../support/sms.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const json = { headers: { accept: "application/json" } }

const texts = (node: RunningNode, query: string) => node.request("GET", `/sandbox/sms?${query}`, json)

layer(Service.layer(), { excludeTestServices: true })("sandbox messages", (it) => {
  it.effect("a request waits for the whole of a long SMS, which has its parts and its status", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const to = freshNumber()
      const waiting = yield* Effect.forkChild(texts(node, `to=${encodeURIComponent(to)}&text=ORDER&wait=20`))
      const content = `Your order 1042 is ready. ${"Thank you. ".repeat(20)}`.trim()
      const id = yield* sendSms(node, key, { to, content })
      const found = yield* Fiber.join(waiting)
      const { from, received_at, status, ...sms } = Object(found.at("data", 0))
      assert.deepStrictEqual(sms, { message_id: id, to, text: content, encoding: "gsm7", parts: 2, parts_received: 2 })
      assert.deepStrictEqual([from, typeof received_at], [null, "string"])
      assert.deepStrictEqual(found.at("meta"), { total: 1, page: 1, per_page: 50 })
      yield* eventually(
        node.request("GET", `/sandbox/sms/${id}`, json),
        ({ at }) => at("data", "status") === "delivered"
      )
      assert.strictEqual(status === "sent" || status === "delivered", true)
      const page = yield* node.request("GET", "/sandbox/sms")
      assert.include(page.text, `<p class="text">${content}</p>`)
      assert.include(page.text, "2 segments")
    }))

  it.effect("SMS are found by number, sender and text, and deleted one by one or all", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const [ann, bob] = [freshNumber(), freshNumber()]
      const first = yield* sendSms(node, key, { to: ann, content: "Hello Ann", sender_id: "SHOP" })
      const second = yield* sendSms(node, key, { to: bob, content: "Hello Bob" })
      yield* texts(node, `to=${encodeURIComponent(ann)}&wait=20`)
      yield* texts(node, `to=${encodeURIComponent(bob)}&wait=20`)
      const ids = (query: string) =>
        Effect.map(texts(node, query), ({ at }) =>
          (Object(at("data")) as ReadonlyArray<{ message_id: number }>).map(({ message_id }) => message_id))
      assert.deepStrictEqual(yield* ids("text=hello"), [second, first])
      assert.deepStrictEqual(yield* ids("from=shop"), [first])
      assert.deepStrictEqual(yield* ids(`q=${bob.slice(1)}`), [second])
      const remove = (path: string) =>
        node.request("DELETE", `/sandbox/sms${path}`)
      assert.deepStrictEqual((yield* remove(`/${first}`)).json, { data: { deleted: 1 } })
      assert.strictEqual((yield* remove(`/${first}`)).at("error", "type"), "not_found")
      assert.strictEqual((yield* node.request("GET", `/sandbox/sms/${first}`, json)).status, 404)
      assert.deepStrictEqual((yield* remove("?text=bob")).json, { data: { deleted: 1 } })
      assert.deepStrictEqual(yield* ids("text=hello"), [])
      const wrong = yield* remove("?subject=x")
      assert.deepStrictEqual([wrong.status, wrong.at("error", "param")], [422, "subject"])
      assert.strictEqual(
        (yield* texts(node, "wait=-1")).at("error", "message"),
        "wait: must be a whole number from 0 to 60."
      )
      const foreign = { headers: { origin: "https://evil.example" } }
      assert.strictEqual((yield* node.request("DELETE", "/sandbox/sms", foreign)).status, 404)
      assert.strictEqual((yield* node.request("POST", "/sandbox/sms/delete", foreign)).status, 404)
    }))

  it.effect("a node that stops ends a request that waits", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const waiting = yield* Effect.forkChild(node.request("GET", "/sandbox/mail?to=never@x.example&wait=60", json))
      yield* eventually(node.request("GET", "/sandbox/mail", json), ({ status }) => status === 200)
      yield* node.signal("SIGTERM")
      assert.deepStrictEqual((yield* Fiber.join(waiting)).at("data"), [])
      yield* node.ended
    }))
})

/** An address of this machine that is not its loopback address. */
const ownAddress = Object.values(NodeOs.networkInterfaces()).flat().find((one) =>
  one !== undefined && one.family === "IPv4" && !one.internal
)?.address

layer(TestDatabase.layer, { excludeTestServices: true })("sandbox networks", (it) => {
  it.effect.skipIf(ownAddress === undefined)(
    "SANDBOX_ALLOW opens the pages of a node in production to its networks, with the token that the start prints",
    () =>
      Effect.gen(function*() {
        const open = { HOST: "0.0.0.0", SANDBOX_ALLOW: `${ownAddress}/32`, SANDBOX_TOKEN: undefined }
        const node = yield* startNode({ env: open })
        const [, link = ""] = /(\/sandbox\?token=\w+)/.exec(yield* node.logged("/sandbox?token=")) ?? []
        const origin = `http://${ownAddress}:${node.port}`
        const first = yield* node.request("GET", link, { origin })
        assert.deepStrictEqual([first.status, first.headers["location"]], [303, "/sandbox/mail"])
        const query = link.slice(link.indexOf("?"))
        assert.strictEqual((yield* node.request("GET", `/sandbox/mail${query}`, { ...json, origin })).status, 200)
        assert.strictEqual((yield* node.request("GET", "/sandbox/mail?token=wrong", { ...json, origin })).status, 403)
        const closed = yield* startNode({ env: { ...open, SANDBOX_ALLOW: "198.51.100.0/24" } })
        const elsewhere = { ...json, origin: `http://${ownAddress}:${closed.port}` }
        const refused = yield* closed.request("GET", `/sandbox/mail${query}`, elsewhere)
        assert.deepStrictEqual([refused.status, refused.at("error", "type")], [404, "not_found"])
      })
  )
})

layer(Service.layer(), { excludeTestServices: true })("sandbox domains", (it) => {
  it.effect("a domain below .test verifies itself, and mail from it is signed", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const added = yield* node.request("POST", "/v1/email/domains", { key, json: { domain: "shop.test" } })
      assert.strictEqual(added.status, 201, added.text)
      yield* eventually(
        node.request("GET", `/v1/email/domains/${added.at("data", "id")}`, { key }),
        ({ at }) => at("data", "status") === "verified"
      )
      const sent = yield* node.request("POST", "/v1/email/send", {
        key,
        json: { from: "Shop <hello@shop.test>", to: "ada@example.com", subject: "Hi", text: "Hi" }
      })
      assert.strictEqual(sent.status, 202, sent.text)
      const list = yield* node.request("GET", "/sandbox/mail?from=hello@shop.test&wait=20", json)
      const mail = yield* node.request("GET", `/sandbox/mail/${list.at("data", 0, "id")}/raw`)
      assert.match(mail.text, /DKIM-Signature: [^]*d=shop\.test/)
    }))
})

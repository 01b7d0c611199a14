import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { namesBeside, withOtherNames } from "../../src/platform/http/names/UnknownNames.ts"
import { makeAccount, Service } from "../support/Service.ts"

const mail = { to: "ada@people.example", subject: "s", text: "t" }

layer(Service.layer(), { excludeTestServices: true })(
  "names that an endpoint does not know",
  (it) => {
    it.effect("unknown fields of a mail are warnings with the nearest name, and the mail is accepted", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const json = {
          ...mail,
          "reply-to": "b@c.example",
          scheduled_at: "tomorrow",
          send_att: 1,
          "\u00fcnknown,": { deep: 1 }
        }
        const answer = yield* node.request("POST", "/v1/email/send", { key, json })
        assert.strictEqual(answer.status, 202, answer.text)
        assert.deepStrictEqual(answer.at("data", "warnings"), [
          "unknown field \"reply-to\" was ignored; did you mean \"reply_to\"?",
          "unknown field \"scheduled_at\" was ignored; did you mean \"send_at\"?",
          "unknown field \"send_att\" was ignored; did you mean \"send_at\"?",
          "unknown field \"\u00fcnknown,\" was ignored"
        ])
        assert.isUndefined(answer.headers["x-unknown-fields"])
      }))

    it.effect("a batch warns too, and known fields are no warning", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const batch = {
          recipients: ["ada@people.example"],
          subject: "s",
          html: "h",
          tags: ["a"],
          metadata: { any: "name" }
        }
        const known = yield* node.request("POST", "/v1/email/send-bulk", { key, json: batch })
        assert.deepStrictEqual(known.at("data", "warnings"), [])
        const wrong = yield* node.request("POST", "/v1/email/send-bulk", { key, json: { ...batch, recipient: [] } })
        assert.deepStrictEqual(wrong.at("data", "warnings"), [
          "unknown field \"recipient\" was ignored; did you mean \"recipients\"?"
        ])
      }))

    it.effect("answers without warnings tell unknown names in a header", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const json = { to: "+250788123456", content: "Hello", sendat: 1, "a\"b\\c": 2, "caf\u00e9, x": 3 }
        const sms = yield* node.request("POST", "/v1/sms/send", { key, json })
        assert.strictEqual(sms.status, 202, sms.text)
        assert.strictEqual(sms.headers["x-unknown-fields"], "sendat, a\"b\\c, caf%C3%A9%2C%20x")
        const list = yield* node.request("GET", "/v1/sms/messages?statuss=queued&per_page=5&sort=created_at", { key })
        assert.strictEqual(list.status, 200)
        assert.strictEqual(list.headers["x-unknown-fields"], "statuss")
        const labelled = yield* node.request("GET", "/v1/sms/messages?metadata[order]=A-17", { key })
        assert.strictEqual(labelled.headers["x-unknown-fields"], "metadata[order]")
        const all = yield* node.request("GET", "/v1/messages?metadata[order]=A-17&metadata=A-17", { key })
        assert.strictEqual(all.headers["x-unknown-fields"], "metadata")
        const plain = yield* node.request("GET", "/v1/sms/messages?status=queued", { key })
        assert.isUndefined(plain.headers["x-unknown-fields"])
      }))

    it.effect("unknown names of objects within the body are told with their place, and names that an object may choose are not", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const steps = [
          { channel: "sms", content: "Hello", within_second: 60 },
          {
            channel: "email",
            subject: "s",
            text: "t {{any}}",
            variables: { any: 1 },
            headers: { "X-A": "b" },
            unti: "sent"
          }
        ]
        const to = { phone: "+250788123456", email: "ada@people.example", fax: "1" }
        const metadata = { anything: "goes" }
        const sent = yield* node.request("POST", "/v1/messages", { key, json: { to, steps, metadata, tag: [] } })
        assert.strictEqual(sent.status, 202, sent.text)
        assert.strictEqual(sent.headers["x-unknown-fields"], "tag, to.fax, steps[0].within_second, steps[1].unti")
        const recipients = [{ to: "ada@people.example", variable: { name: "Ada" } }, "bob@people.example"]
        const batch = { recipients, subject: "s", html: "h" }
        const bulk = yield* node.request("POST", "/v1/email/send-bulk?dry_run=1", { key, json: batch })
        assert.strictEqual(bulk.status, 202, bulk.text)
        assert.deepStrictEqual(bulk.at("data", "warnings"), [
          "unknown parameter \"dry_run\" was ignored",
          "unknown field \"recipients[0].variable\" was ignored; did you mean \"variables\"?"
        ])
      }))

    it.effect("a request with hundreds of unknown names tells twenty of them", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`x${index}`.padEnd(300, "y"), 1]))
        const answer = yield* node.request("POST", "/v1/email/send", { key, json: { ...mail, ...many } })
        assert.strictEqual(answer.status, 202, answer.text)
        assert.strictEqual(Object(answer.at("data", "warnings")).length, 20)
      }))

    it.effect("a missing field names the unknown field that holds its value", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const to = "+250788123456"
        const cases = [
          ["/v1/sms/send", { to, text: "Hello" }, "content", "text"],
          ["/v1/sms/send", { to, body: "Hello" }, "content", "body"],
          ["/v1/sms/send", { to, message: "Hello" }, "content", "message"],
          ["/v1/sms/send", { to, contnet: "Hello" }, "content", "contnet"],
          ["/v1/sms/send", { phone_number: to, content: "Hello" }, "to", "phone_number"],
          ["/v1/whatsapp/send", { to, session_id: 1, text: "Hello" }, "content", "text"],
          ["/v1/whatsapp/send", { to, session: 1, content: "Hello" }, "session_id", "session"],
          ["/v1/whatsapp/send-bulk", { chatId: to, session_id: 1, content: "Hello" }, "recipients", "chatId"],
          ["/v1/email/send", { to: "ada@people.example", subject: "s", body: "Hello" }, "html", "body"],
          ["/v1/email/send", { to: "ada@people.example", subjcet: "s", text: "Hello" }, "subject", "subjcet"],
          ["/v1/email/send-bulk", { to: ["ada@people.example"], subject: "s", text: "t" }, "recipients", "to"],
          ["/v1/verify/check", { to, otp: "123456" }, "code", "otp"],
          ["/v1/webhooks", { endpoint: "https://a.example/", events: ["*"] }, "url", "endpoint"]
        ] as const
        for (const [path, json, param, name] of cases) {
          const answer = yield* node.request("POST", path, { key, json })
          assert.strictEqual(answer.status, 422, `${path} ${answer.text}`)
          assert.strictEqual(answer.at("error", "param"), param, answer.text)
          const reason = String(answer.at("error", "errors", 0, "message"))
          assert.match(reason, new RegExp(`^is required.*; use it instead of "${name}"$`))
          assert.include(String(answer.at("error", "message")), `${param}: ${reason}`)
        }
      }))

    it.effect("a mail without a body names the misspelt text", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const json = { to: "ada@people.example", subject: "s", txt: "Hello" }
        const answer = yield* node.request("POST", "/v1/email/send", { key, json })
        assert.strictEqual(
          answer.at("error", "message"),
          "html: is required unless text or template_id is given; use \"text\" instead of \"txt\"."
        )
      }))

    it.effect("a missing field of an object within the body names the field beside it that holds its value", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const recipients = ["+250788123456", { phone: "+250788123457" }]
        const bulk = yield* node.request("POST", "/v1/sms/send-bulk", { key, json: { recipients, content: "Hello" } })
        assert.strictEqual(
          bulk.at("error", "message"),
          "recipients[1].to: is required; use it instead of \"phone\"."
        )
        const steps = [{ channel: "sms", text: "Hello" }]
        const chain = yield* node.request("POST", "/v1/messages", {
          key,
          json: { to: { phone: "+250788123456" }, steps }
        })
        assert.strictEqual(
          chain.at("error", "message"),
          "steps[0].content: is required; use it instead of \"text\"."
        )
        const missing = [{ param: "content.body", type: "missing", message: "is required" }]
        const told = withOtherNames(missing, (param) => namesBeside({ content: { text: "Hello" } }, param))
        assert.strictEqual(told[0]?.message, "is required; use it instead of \"text\"")
      }))

    it.effect("a missing field names no unknown field whose name is another word", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const json = { id: 1, colour: "red", xy: 1, constructor: 1 }
        const answer = yield* node.request("POST", "/v1/sms/send", { key, json })
        assert.deepStrictEqual(answer.at("error", "errors"), [
          { param: "to", type: "missing", message: "is required" },
          { param: "content", type: "missing", message: "is required" }
        ])
      }))
  }
)

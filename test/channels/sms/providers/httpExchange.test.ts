import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { outcomeOf, receiptsOf, requestOf } from "../../../../src/channels/sms/providers/httpExchange.ts"
import { HttpProfile } from "../../../../src/channels/sms/providers/HttpProfile.ts"
import { MessageId } from "../../../../src/values/Ids.ts"
import { PhoneNumber } from "../../../../src/values/PhoneNumber.ts"

const secret = "0123456789abcdef"

const json = Schema.decodeSync(HttpProfile)({
  name: "lists",
  url: "https://sms.example/v3",
  headers: { authorization: "App KEY" },
  encoding: "json",
  body: {
    messages: [{ sender: "{{from}}", to: [{ to: "{{to_digits}}" }], text: "{{text}}", n: 1, hook: "{{callback_url}}" }]
  },
  accepted: { path: "messages.0.status", values: ["0"] },
  put_off: { path: "messages.0.status", values: ["1"] },
  id: "messages.0.message-id",
  error: "messages.0.error-text",
  receipt: { secret, each: "results", id: "id", status: "status", delivered: ["ok"], failed: ["bad"], error: "why" }
})

const form = Schema.decodeSync(HttpProfile)({
  name: "forms",
  url: "https://sms.example/send",
  headers: {},
  encoding: "form",
  body: { To: "{{to}}", From: "{{from}}", Body: "{{text}}", Fixed: "{{unknown}}" },
  id: "sid",
  receipt: { secret, id: "MessageSid", status: "MessageStatus", delivered: ["delivered"], failed: ["failed"] }
})

const part = {
  message_id: MessageId.make(7),
  part_no: 1,
  parts: 1,
  encoding: "ucs2",
  body: "Привет & \"you\" {{to}}",
  sender: null,
  recipient: Schema.decodeSync(PhoneNumber)("+250788123456"),
  lane: 1,
  account_id: 1
} as const

const answer = (status: number, body: unknown) => ({ status, text: JSON.stringify(body) })

describe("httpExchange", () => {
  it("builds the profile's JSON, which a text cannot change, and omits a missing sender", () => {
    const { body, headers } = requestOf(json, part, "https://us.example/hook")
    assert.deepStrictEqual(JSON.parse(body.toString()), {
      messages: [{ to: [{ to: "250788123456" }], text: part.body, n: 1, hook: "https://us.example/hook" }]
    })
    assert.deepStrictEqual(headers, {
      authorization: "App KEY",
      accept: "application/json",
      "content-type": "application/json"
    })
  })

  it("builds the profile's form", () => {
    const fields = new URLSearchParams(requestOf(form, { ...part, sender: "Shop" }, "").body.toString())
    assert.deepStrictEqual([...fields], [
      ["To", "+250788123456"],
      ["From", "Shop"],
      ["Body", part.body],
      ["Fixed", "{{unknown}}"]
    ])
  })

  it("recognises refusals with status 200 by the profile", () => {
    const outcome = (status: number, message: object) => outcomeOf(json, answer(status, { messages: [message] }))
    assert.deepStrictEqual(outcome(200, { status: "0", "message-id": "a1" }), { _tag: "Accepted", id: "a1" })
    assert.deepStrictEqual(outcome(200, { status: 0, "message-id": 5 }), { _tag: "Accepted", id: "5" })
    assert.deepStrictEqual(outcome(200, { status: "3", "error-text": "bad number" }), {
      _tag: "Refused",
      code: "rejected",
      reason: "bad number"
    })
    assert.deepInclude(outcome(200, { status: "1" }), { _tag: "Deferred" })
    assert.deepInclude(outcome(400, { status: "0" }), { _tag: "Refused", code: "http_400" })
    assert.deepInclude(outcome(500, {}), { _tag: "Deferred", code: "http_500" })
    assert.deepInclude(outcome(429, {}), { _tag: "Unavailable" })
    assert.deepInclude(outcome(302, {}), { _tag: "Refused" })
    assert.deepInclude(outcomeOf(json, { status: 200, text: "<html>" }), { _tag: "Refused" })
    assert.deepStrictEqual(outcomeOf(form, answer(201, { sid: "SM1" })), { _tag: "Accepted", id: "SM1" })
  })

  it("compares a boolean as the text true or false, also in a receipt", () => {
    const accepted = { path: "success", values: ["true"] }
    const receipt = { ...form.receipt, status: "done", delivered: ["true"], failed: ["false"] }
    const profile = { ...form, accepted, receipt }
    const outcome = (success: boolean) => outcomeOf(profile, answer(200, { success, sid: "x" }))
    assert.deepStrictEqual(outcome(true), { _tag: "Accepted", id: "x" })
    assert.deepInclude(outcome(false), { _tag: "Refused", code: "rejected" })
    const states = [true, false].flatMap((done) => receiptsOf(profile, JSON.stringify({ MessageSid: "x", done })))
    assert.deepStrictEqual(states.map(({ state }) => state), ["delivered", "failed"])
  })

  it("has no NUL in what it reads, because PostgreSQL cannot store it", () => {
    const messages = [{ status: "0", "message-id": "a\0b" }]
    assert.deepStrictEqual(outcomeOf(json, answer(200, { messages })), { _tag: "Accepted", id: "a b" })
    const results = [{ id: "a\0b", status: "bad", why: "\0" }]
    assert.deepInclude(receiptsOf(json, JSON.stringify({ results }))[0], {
      provider_message_id: "a b",
      error_message: "The provider says bad,  ."
    })
  })

  it("keeps every digit of a numeric id, so that an answer and its receipt match", () => {
    const text = (id: string) => `{"messages":[{"status":0,"message-id":${id}}],"results":[{"id":${id},"status":"ok"}]}`
    for (const id of ["5", "9007199254740991", "9007199254740993", "1234567890123456789012"]) {
      assert.deepStrictEqual(outcomeOf(json, { status: 200, text: text(id) }), { _tag: "Accepted", id })
      assert.deepInclude(receiptsOf(json, text(id))[0], { provider_message_id: id })
    }
  })

  it("reads receipts in lists and forms and ignores anything else", () => {
    const results = [
      { id: 1, status: "ok" },
      { id: "2", status: "bad", why: 27 },
      { id: "3", status: "sent" },
      null,
      {}
    ]
    assert.deepStrictEqual(receiptsOf(json, JSON.stringify({ results })), [
      { provider: "lists", provider_message_id: "1", state: "delivered", error_code: null, error_message: null },
      {
        provider: "lists",
        provider_message_id: "2",
        state: "failed",
        error_code: "undeliverable",
        error_message: "The provider says bad, 27."
      }
    ])
    const many = Array.from({ length: 5_000 }, (_, id) => ({ id, status: "ok" }))
    assert.strictEqual(receiptsOf(json, JSON.stringify({ results: many })).length, 5_000)
    assert.strictEqual(receiptsOf(form, "MessageSid=SM1&MessageStatus=delivered").length, 1)
    for (const text of ["", "{", "null", "[]", "x=1", JSON.stringify({ results: "no" }), "{\"__proto__\":1}"]) {
      assert.deepStrictEqual([...receiptsOf(json, text), ...receiptsOf(form, text)], [])
    }
  })
})

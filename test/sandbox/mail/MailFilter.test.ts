import { assert, describe, it } from "@effect/vitest"
import { conditionsOf, queryString } from "../../../src/sandbox/mail/MailFilter.ts"

const none = { to: "", from: "", subject: "", q: "" }

const conditions = (q: string) => conditionsOf({ ...none, q })

describe("a search in the inbox", () => {
  it("words match anywhere, phrases as a whole, and prefixes name a field", () => {
    assert.deepStrictEqual(conditions("Order \"Your Code\" from:shop subject:\"New order\" TO:ada@"), [
      { field: "any", text: "order" },
      { field: "any", text: "your code" },
      { field: "from", text: "shop" },
      { field: "subject", text: "new order" },
      { field: "to", text: "ada@" }
    ])
  })

  it("marks select unread and read mail and mail with attachments; other words after is: are text", () => {
    assert.deepStrictEqual(conditions("is:unread is:read has:attachment is:odd"), [
      { mark: "unread" },
      { mark: "read" },
      { mark: "attachment" },
      { field: "any", text: "is:odd" }
    ])
  })

  it("parameters add conditions, and a blank one adds none", () => {
    assert.deepStrictEqual(conditionsOf({ to: "Ada@x.example", from: " ", subject: "", q: "" }), [
      { field: "to", text: "ada@x.example" }
    ])
    assert.deepStrictEqual(conditions("  \"\"  "), [])
  })

  it("the query string repeats only what was given", () => {
    assert.strictEqual(queryString(none), "")
    assert.strictEqual(queryString({ ...none, to: "a+b@x.example", q: "is:read" }), "?to=a%2Bb%40x.example&q=is%3Aread")
  })
})

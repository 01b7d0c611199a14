import { assert, describe, it } from "@effect/vitest"
import { placeOf } from "../../src/console/page/placeOf.ts"
import { soughtIn } from "../../src/console/pages/find/soughtIn.ts"

const ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
const uuid = "01a1fc14-da7a-77f3-8697-bb5965d54ec7"

const kindsOf = (text: string) => soughtIn(text).map(({ kind }) => kind)

describe("a text that a person looks for", () => {
  it("is an id where its form says what it names, also with spaces around it", () => {
    const kinds = [
      uuid,
      `email_batch_${ulid}`,
      `sms_batch_${ulid}`,
      `evt_${ulid}`,
      `msg_${ulid}`,
      `tmpl_${ulid}`,
      `ver_${ulid}`
    ].map((id) => kindsOf(` ${id}\n`))
    const expected = ["request", "emailBatch", "batch", "event", "failover", "template", "verification"]
    assert.deepStrictEqual(kinds, expected.map((kind) => [kind]))
  })

  it("is a record of one kind where the kind stands before the number, and of every kind without", () => {
    for (const text of ["sms 42", "sms/42", "SMS #42", "sms:42"]) {
      assert.deepStrictEqual(soughtIn(text), [{ kind: "record", id: 42, kinds: ["sms"] }], text)
    }
    const [record] = soughtIn("42")
    assert.deepInclude(record, { kind: "record", id: 42 })
    assert.deepStrictEqual(kindsOf("42"), ["record"])
    assert.deepStrictEqual(kindsOf("invoice 42"), ["words"])
  })

  it("is a phone number in every spelling", () => {
    for (const text of ["+250 788-123-456", "00250788123456", "(+250) 788 123 456", "+250788123456"]) {
      const phone = soughtIn(text).find(({ kind }) => kind === "phone")
      assert.deepStrictEqual(phone, { kind: "phone", digits: "250788123456", ending: "250788123456" }, text)
    }
    assert.deepStrictEqual(soughtIn("0788 123 456"), [{ kind: "phone", digits: "0788123456", ending: "788123456" }])
    assert.deepStrictEqual(kindsOf("250788123456"), ["record", "phone"])
  })

  it("is the page of an address of the API, with or without the server", () => {
    for (
      const text of [
        "/v1/email/messages/42",
        "https://api.example/v1/email/messages/42?x=1",
        "GET /v1/email/messages/42"
      ]
    ) {
      assert.deepInclude(soughtIn(text)[0], { kind: "place", place: "/messages/email/42" }, text)
    }
  })

  it("is an email address, words, or nothing", () => {
    assert.deepStrictEqual(soughtIn("Ada@"), [{ kind: "address", text: "Ada@" }])
    assert.deepStrictEqual(soughtIn("  Your receipt "), [{ kind: "words", text: "Your receipt" }])
    for (const text of ["", "  ", "…", "--"]) assert.deepStrictEqual(soughtIn(text), [], text)
    const [words] = soughtIn("a".repeat(500))
    assert.deepStrictEqual(words, { kind: "words", text: "a".repeat(100) })
  })
})

describe("the page of what a request has made", () => {
  it("is that of the record, and missing where the console has none", () => {
    const places = {
      "/v1/email/messages/42": "/messages/email/42",
      [`/v1/sms/batches/sms_batch_${ulid}`]: `/batches/sms/sms_batch_${ulid}`,
      [`/v1/email/templates/tmpl_${ulid}`]: `/templates/tmpl_${ulid}`,
      "/v1/email/domains/7": "/domains/7",
      "/v1/webhooks/7": "/webhooks/7",
      "/v1/webhooks/7/deliveries/9": "/webhooks/7/deliveries/9",
      "/v1/whatsapp/sessions/3": "/whatsapp/3",
      [`/v1/verify/status/ver_${ulid}`]: `/verify/ver_${ulid}`,
      "/v1/email/suppressions/ada%40example.com": "/suppressions",
      [`/v1/messages/msg_${ulid}`]: `/messages/msg_${ulid}`,
      "/v1/email/messages/42/other": undefined,
      "/v1/email/messages/../../keys": undefined
    }
    for (const [path, place] of Object.entries(places)) assert.strictEqual(placeOf(path), place, path)
  })
})

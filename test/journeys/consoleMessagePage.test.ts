/** What the page of one message shows. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { sendCode } from "../support/codes.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { makeAccount, Service } from "../support/Service.ts"

/** A person who reads pages of their account without a browser. */
const reader = Effect.gen(function*() {
  const node = yield* Service
  const { accountId, key } = yield* makeAccount()
  const { cookie } = yield* signedInAs(accountId, "owner")
  const read = (path: string) => node.request("GET", `/console/${accountId}${path}`, { headers: { cookie } })
  return { accountId, key, node, read }
})

layer(Service.layer(), { excludeTestServices: true })("the page of a message", (it) => {
  it.effect("has the text of an email, and its HTML in a frame that runs and loads nothing, until they are deleted", () =>
    Effect.gen(function*() {
      const { key, node, read } = yield* reader
      const sql = yield* SqlClient.SqlClient
      const send = (json: unknown) =>
        Effect.map(node.request("POST", "/v1/email/send", { key, json }), (sent) => Number(sent.at("data", "id")))
      const markup = "<!doctype html><p>Dear Ada</p><script>alert(1)</script>"
      const files = [{ filename: "receipt.txt", content: "dG90YWw=", content_type: "text/plain" }]
      const to = "ada@example.com"
      const id = yield* send({ to, subject: "Receipt <1>", html: markup, text: "Dear <Ada>", attachments: files })
      const page = yield* read(`/messages/email/${id}`)
      assert.match(page.text, new RegExp(`<iframe class="mail wide" sandbox [^>]*/messages/email/${id}/frame"`))
      assert.include(page.text, "Receipt &lt;1&gt;")
      assert.include(page.text, "receipt.txt")
      const frame = yield* read(`/messages/email/${id}/frame`)
      assert.match(
        String(frame.headers["content-security-policy"]),
        /^default-src 'none'; style-src 'unsafe-inline'; img-src data:; .*form-action 'none'; .*; sandbox$/
      )
      assert.strictEqual(frame.text, markup.replace("<p>", "<meta charset=\"utf-8\"><p>"))
      assert.include((yield* read(`/messages/email/${id}?view=plain`)).text, "Dear &lt;Ada&gt;")
      const other = yield* reader
      assert.strictEqual((yield* other.read(`/messages/email/${id}/frame`)).status, 404)
      const plain = yield* send({ to, subject: "Hello", text: "Only words" })
      const { text } = yield* read(`/messages/email/${plain}`)
      assert.include(text, "Only words")
      assert.notInclude(text, "<iframe")
      yield* sql`delete from email_contents where id = ${id}`
      const gone = yield* read(`/messages/email/${id}`)
      assert.include(gone.text, "The texts of an email are deleted a day after its sending ended.")
      assert.notInclude(gone.text, "<iframe")
    }))

  it.effect("shows stars in the place of a one-time code", () =>
    Effect.gen(function*() {
      const { key, node, read } = yield* reader
      yield* sendCode(node, { key, json: { to: "ada@example.com", channel: "email" } })
      const { at } = yield* node.request("GET", "/v1/messages", { key })
      const path = `/messages/email/${String(at("data", 0, "id"))}`
      for (const part of ["", "?view=plain", "/frame"]) {
        const { text } = yield* read(`${path}${part}`)
        assert.notMatch(text.replaceAll(/ (?:value|href|datetime)="[^"]*"/g, ""), /\b\d{6}\b/, part)
      }
      assert.include((yield* read(`${path}?view=plain`)).text, "******")
    }))
})

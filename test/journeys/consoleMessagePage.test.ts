/** What the page of one message shows. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { sendCode } from "../support/codes.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { eventually, makeAccount, Service } from "../support/Service.ts"
import { freshNumber, sendSms, smsReaching } from "../support/sms.ts"

/** A person who reads pages of their account without a browser. */
const reader = Effect.gen(function*() {
  const node = yield* Service
  const { accountId, key } = yield* makeAccount()
  const { cookie } = yield* signedInAs(accountId, "owner")
  const read = (path: string) => node.request("GET", `/console/${accountId}${path}`, { headers: { cookie } })
  return { accountId, cookie, key, node, read }
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
      assert.include(gone.text, "The texts of an email are deleted a day after it was sent to its last recipient")
      assert.notInclude(gone.text, "<iframe")
    }))

  it.effect("that is open already is sent without its mail, which does not change", () =>
    Effect.gen(function*() {
      const { accountId, cookie, key, node } = yield* reader
      const json = { to: "ada@example.com", subject: "Your receipt", text: "Only words" }
      const id = Number((yield* node.request("POST", "/v1/email/send", { key, json })).at("data", "id"))
      const read = (headers: Record<string, string>) =>
        node.request("GET", `/console/${accountId}/messages/email/${id}`, { headers: { cookie, ...headers } })
      assert.include((yield* read({})).text, "Only words")
      const update = (yield* read({ "x-update": "1" })).text
      assert.notInclude(update, "Only words")
      assert.notInclude(update, "Your receipt")
      assert.include(update, "<h2 id=\"timeline\">")
    }))

  it.effect("says of a failed email that it may have arrived, also if its stored error does not say so", () =>
    Effect.gen(function*() {
      const { key, node, read } = yield* reader
      const sql = yield* SqlClient.SqlClient
      for (const to of ["ada@example.com", ["ada@example.com", "bob@example.com"]]) {
        const json = { to, subject: "Hello", text: "Hello" }
        const id = Number((yield* node.request("POST", "/v1/email/send", { key, json })).at("data", "id"))
        yield* eventually(
          sql`select from email_messages where (id = ${id} or part_of = ${id}) and status in ('queued', 'sending')`,
          ({ length }) => length === 0
        )
        const why = Effect.map(
          read(`/messages/email/${id}`),
          ({ text }) => /<div class="why">.*?<\/div>/s.exec(text)?.[0]
        )
        const fail = (doubts: number) =>
          sql`update email_messages set status = 'failed', error = 'connection closed', doubts = ${doubts}
            where id = ${id} or part_of = ${id}`
        yield* fail(0)
        assert.include(yield* why, "Not sent: the service could not prepare it.")
        yield* fail(1)
        assert.include(yield* why, "It may have arrived, so it is not repeated.")
      }
    }))

  it.effect("of an SMS that waits has the time of the next attempt until that time, and the reason also later", () =>
    Effect.gen(function*() {
      const { accountId, key, node, read } = yield* reader
      const sql = yield* SqlClient.SqlClient
      const id = yield* sendSms(node, key, { to: freshNumber(), content: "Hello" })
      yield* smsReaching(node, { id, key, statuses: ["delivered"] })
      yield* sql`update messages set status = 'queued' where id = ${id}`
      const why = Effect.map(
        read(`/messages/sms/${id}`),
        ({ text }) => /<div class="why">.*?<\/div>/s.exec(text)?.[0]
      )
      const deferred = (minutes: number) =>
        sql`insert into message_attempts (account_id, channel, message_id, part, at, attempt, outcome, duration_ms, peer, reply,
            next_at)
          values (${accountId}, 'sms', ${id}, 1, now() + interval '1 second', 1, 'deferred', 5, 'smpp',
            'the carrier throttles', now() + ${minutes}::int * interval '1 minute')`
      yield* deferred(5)
      assert.include(yield* why, "The next one is due at")
      yield* sql`update message_attempts set next_at = now() - interval '1 minute' where message_id = ${id}`
      assert.include(yield* why, "The service tries again by itself.")
      assert.include(yield* why, "the carrier throttles")
    }))

  it.effect("answers a form with a page, also where the address asks for a file", () =>
    Effect.gen(function*() {
      const { accountId, cookie, key, node } = yield* reader
      const json = { to: "ada@example.com", subject: "Hello", text: "Hello" }
      const id = Number((yield* node.request("POST", "/v1/email/send", { key, json })).at("data", "id"))
      const at = `/console/${accountId}/messages/email/${id}?format=json`
      const { headers, status } = yield* node.request("POST", at, { headers: { cookie }, body: "_action=suppress" })
      assert.deepStrictEqual([status, headers["content-type"]], [403, "text/html; charset=utf-8"])
    }))

  it.effect("shows stars in the place of a one-time code", () =>
    Effect.gen(function*() {
      const { key, node, read } = yield* reader
      yield* sendCode(node, { key, json: { to: "ada@example.com", channel: "email" } })
      const { at } = yield* node.request("GET", "/v1/messages", { key })
      const path = `/messages/email/${String(at("data", 0, "id"))}`
      for (const part of ["", "?view=plain", "?view=source", "/frame"]) {
        const { text } = yield* read(`${path}${part}`)
        assert.notMatch(text.replaceAll(/ (?:value|href|datetime)="[^"]*"/g, ""), /\b\d{6}\b/, part)
      }
      assert.include((yield* read(`${path}?view=plain`)).text, "******")
    }))

  it.effect("with failover has each step and what happened over all of them, and is found from its messages", () =>
    Effect.gen(function*() {
      const { key, node, read } = yield* reader
      const json = {
        to: { phone: "+250788123456", email: "ada@example.com" },
        steps: [{ channel: "sms", content: "Ready" }, { channel: "email", subject: "Ready", text: "It is ready." }]
      }
      const { at } = yield* node.request("POST", "/v1/messages", { key, json })
      const id = String(at("data", "id"))
      const step = `/messages/sms/${String(at("data", "steps", 0, "message_id"))}"`
      const { text } = yield* read(`/messages/${id}`)
      assert.include(text, "Message over several channels</h1>")
      const [steps = "", course = ""] = text.split("What happened")
      for (const part of ["+250788123456", "ada@example.com", "waiting", "delivered within 5 minutes", step]) {
        assert.include(steps, part)
      }
      assert.include(course, step)
      assert.include((yield* read(step.slice(0, -1))).text, `/messages/${id}"`)
      const found = yield* read(`/find?q=${id}`)
      assert.include(`${String(found.headers["location"])}${found.text}`, `/messages/${id}`)
      const other = yield* reader
      for (const path of [`/messages/${id}`, "/messages/msg_1"]) {
        assert.strictEqual((yield* other.read(path)).status, 404, path)
      }
    }))
})

import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { asking, ended, readMail, sendBulk } from "../support/bulkMail.ts"
import { Relay } from "../support/Relay.ts"
import { makeAccount, Service } from "../support/Service.ts"

/** Sends one mail and returns the path of its List-Unsubscribe link. */
const linkOf = Effect.fnUntraced(function*(key: string, to: string) {
  const node = yield* Service
  const { sink } = yield* Relay
  const id = yield* sendBulk(node, key, { subject: "s", html: "h", recipients: [to] })
  yield* ended(node, key, id)
  const { field } = yield* readMail(sink.messages.findLast((mail) => mail.to[0] === to)?.raw ?? Buffer.alloc(0))
  return new URL(field("list-unsubscribe").join().slice(1, -1)).pathname
})

const suppressionsOf = (accountId: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`select email, reason from suppressions where account_id = ${accountId} order by email`
  )

/** A mail program's request (RFC 8058 3.2): a form of one field, without cookies. */
const oneClick = {
  body: "List-Unsubscribe=One-Click",
  headers: { "content-type": "application/x-www-form-urlencoded" }
}

layer(Relay.layer(), { excludeTestServices: true })("unsubscribe link", (it) => {
  it.effect("GET shows a confirmation form and changes nothing, however often it is opened", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { accountId, key } = yield* makeAccount()
      const path = yield* linkOf(key, "asked@people.example")
      const pages = yield* Effect.all([
        node.request("GET", path),
        node.request("GET", path),
        node.request("HEAD", path)
      ])
      assert.deepStrictEqual(pages.map(({ status }) => status), [200, 200, 200])
      assert.match(pages[0].headers["content-type"] ?? "", /^text\/html/)
      assert.match(pages[0].text, /asked@people\.example/)
      assert.match(pages[0].text, /<form method="post">/)
      assert.match(pages[0].headers["content-security-policy"] ?? "", /default-src 'none'/)
      assert.deepStrictEqual(yield* suppressionsOf(accountId), [])
    }))

  it.effect("a repeated one-click POST suppresses the address once, and later batches skip it", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const { accountId, key } = yield* makeAccount()
      const to = "Leaving.Me@people.example"
      const path = yield* linkOf(key, to)
      const answers = yield* Effect.all([node.request("POST", path, oneClick), node.request("POST", path, oneClick)])
      for (const answer of answers) {
        assert.strictEqual(answer.status, 200)
        assert.isUndefined(answer.headers["location"])
        assert.isUndefined(answer.headers["set-cookie"])
      }
      assert.deepStrictEqual(yield* suppressionsOf(accountId), [
        { email: "leaving.me@people.example", reason: "unsubscribe" }
      ])
      const id = yield* sendBulk(node, key, {
        subject: "s",
        html: "h",
        recipients: ["leaving.ME@people.example", "b@people.example"]
      })
      const done = yield* ended(node, key, id)
      assert.deepInclude(done.at("data"), { status: "completed", total: 2, sent: 1, suppressed: 1 })
      const listed = yield* node.request("GET", `/v1/email/batches/${id}/recipients?status=suppressed`, { key })
      assert.strictEqual(listed.at("data", 0, "to"), "leaving.ME@people.example")
      assert.strictEqual(sink.messages.filter((mail) => mail.to[0]?.toLowerCase().startsWith("leaving")).length, 1)
    }))

  it.effect("unsubscribing applies to the sending account only", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const [first, second] = yield* Effect.all([makeAccount(), makeAccount()])
      yield* node.request("POST", yield* linkOf(first.key, "both@people.example"), oneClick)
      const id = yield* sendBulk(node, second.key, { subject: "s", html: "h", recipients: ["both@people.example"] })
      assert.deepInclude((yield* ended(node, second.key, id)).at("data"), { sent: 1, suppressed: 0 })
    }))

  it.effect("a recipient who unsubscribes while their batch is queued gets no further attempt", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      const id = yield* sendBulk(node, key, { subject: "s", html: "h", recipients: ["defer-late@people.example"] })
      yield* asking(
        node.request("GET", `/v1/email/batches/${id}/recipients`, { key }),
        ({ at }) => at("data", 0, "attempt_count") === 1
      )
      yield* sql`insert into suppressions (account_id, email, reason)
        values (${accountId}, 'defer-late@people.example', 'unsubscribe')`
      yield* sql`update email_messages set due_at = now() - interval '1 minute' where batch_id = ${id}`
      const done = yield* ended(node, key, id)
      assert.deepInclude(done.at("data"), { status: "failed", total: 1, sent: 0, suppressed: 1 })
      assert.strictEqual(sink.attempts.get("defer-late@people.example"), 1)
    }))

  it.effect("a forged, truncated or unknown token gets the same 404", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { accountId, key } = yield* makeAccount()
      const path = yield* linkOf(key, "forged@people.example")
      const [, id, mac] = /^\/u\/(\d+)-(.+)$/.exec(path) ?? []
      const flipped = `${mac?.startsWith("A") ? "B" : "A"}${mac?.slice(1)}`
      const forged = [
        `${id}-${flipped}`,
        `${Number(id) + 1}-${mac}`,
        `0${id}-${mac}`,
        `${id}-${mac?.slice(1)}`,
        `${id}`,
        "x",
        "%00"
      ]
      const pages = new Set<string>()
      for (const token of forged) {
        const asked = yield* node.request("GET", `/u/${token}`)
        const posted = yield* node.request("POST", `/u/${token}`, oneClick)
        assert.deepStrictEqual([asked.status, posted.status], [404, 404], token)
        pages.add(asked.text)
      }
      assert.strictEqual(pages.size, 1)
      assert.deepStrictEqual(yield* suppressionsOf(accountId), [])
    }))
})

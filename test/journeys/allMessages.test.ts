import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { connectedSession } from "../contract/samples.ts"
import { insertDomain } from "../support/bulkMail.ts"
import { type Answer, eventually, makeAccount, makeKey, Service } from "../support/Service.ts"

type Item = Readonly<Record<string, unknown>>

const itemsOf = (answer: Answer) => {
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.at("data") as ReadonlyArray<Item> // a list, by the contract
}

/** Sends one message on each channel, and returns a reader of the list. */
const withMessages = Effect.gen(function*() {
  const { request } = yield* Service
  const account = yield* makeAccount()
  const { key } = account
  const post = (path: string, json: unknown) => request("POST", path, { key, json })
  yield* post("/v1/email/send", {
    to: ["ada@example.com", "bob@example.com"],
    cc: ["carl@example.com"],
    subject: "Votre commande est prête",
    text: "Crème brûlée à emporter"
  })
  yield* post("/v1/email/send-bulk", {
    recipients: [{ to: "dora@example.com", variables: { name: "Zoë" } }, "emil@example.com"],
    subject: "Hello {{name|you}}",
    html: "<p>The lighthouse is open, {{name|you}}</p>"
  })
  yield* post("/v1/sms/send", { to: "+250788123456", content: "Your table is ready" })
  const session_id = yield* connectedSession(request, key)
  yield* post("/v1/whatsapp/send", { session_id, to: "+15550100301", type: "text", content: { body: "Hola" } })
  yield* post("/v1/verify/send", { to: "+250788999111" })
  const get = (query = "", as = key) => request("GET", `/v1/messages${query}`, { key: as })
  return { ...account, get, post, request, session_id }
})

const waitForIndex = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`update email_messages set created_at = created_at - interval '1 minute'`
  yield* sql`update messages set created_at = created_at - interval '1 minute'`
  yield* eventually(
    sql<{ left: number }>`select (select max(id) from email_messages) - (select id from message_search_progress
        where name = 'email_messages') + (select max(id) from messages) - (select id from message_search_progress
        where name = 'messages') as left`,
    ([row]) => Number(row?.left) === 0
  )
})

const previews = (answer: Answer) => itemsOf(answer).map(({ preview }) => preview)

layer(Service.layer())((it) => {
  it.effect("lists the messages of all channels, newest first, with their common fields", () =>
    Effect.gen(function*() {
      const { get } = yield* withMessages
      const answer = yield* get()
      const items = itemsOf(answer)
      assert.deepStrictEqual(items.map(({ channel, preview, to, type }) => [channel, type, to, preview]), [
        ["sms", "code", "+250788999111", items[0]?.["preview"]],
        ["whatsapp", "text", "+15550100301", "Hola"],
        ["sms", "text", "+250788123456", "Your table is ready"],
        ["email", "email", "emil@example.com", "Hello you"],
        ["email", "email", "dora@example.com", "Hello Zoë"],
        ["email", "email", ["ada@example.com", "bob@example.com"], "Votre commande est prête"]
      ])
      assert.match(String(items[0]?.["preview"]), /\*{6}/)
      assert.deepStrictEqual(answer.at("meta"), { per_page: 25, next_cursor: null })
      assert.deepStrictEqual(Object.keys(items[2] ?? {}).toSorted(), [
        "batch_id",
        "channel",
        "created_at",
        "direction",
        "error",
        "failover_id",
        "from",
        "href",
        "id",
        "metadata",
        "mode",
        "preview",
        "status",
        "tags",
        "to",
        "type",
        "updated_at"
      ])
      const { request } = yield* Service
      for (const { channel, href, id } of items) {
        assert.strictEqual(href, `/v1/${String(channel)}/messages/${String(id)}`)
      }
      assert.strictEqual((yield* request("GET", "/v1/messages")).status, 401)
    }))

  it.effect("filters by channel, status, batch, tags, metadata, time and the beginning of a recipient", () =>
    Effect.gen(function*() {
      const { accountId, get, post } = yield* withMessages
      const sql = yield* SqlClient.SqlClient
      yield* sql`update messages set tags = array['booking', 'vip'], metadata = '{"order": "A-17", "shop": "3"}'
        where account_id = ${accountId} and recipient = '+250788123456'`
      yield* sql`update email_messages set tags = array['booking'] where account_id = ${accountId} and batch_id is not null`
      yield* post("/v1/email/suppressions", { email: "gone@example.com" })
      yield* post("/v1/email/send", { to: "gone@example.com", subject: "Never sent", text: "x" })
      const sms = "Your table is ready"
      assert.deepStrictEqual(previews(yield* get("?status=suppressed")), ["Never sent"])
      assert.deepStrictEqual(previews(yield* get("?channel=whatsapp")), ["Hola"])
      assert.lengthOf(itemsOf(yield* get("?tag=booking")), 3)
      assert.deepStrictEqual(previews(yield* get("?tag=booking&tag=vip")), [sms])
      const labelled = yield* get("?metadata[order]=A-17&metadata%5Bshop%5D=3")
      assert.deepStrictEqual(previews(labelled), [sms])
      assert.isUndefined(labelled.headers["x-unknown-fields"])
      assert.deepStrictEqual(previews(yield* get("?metadata[order]=A-18")), [])
      const batch_id = String(itemsOf(yield* get("?to=dora"))[0]?.["batch_id"])
      assert.lengthOf(itemsOf(yield* get(`?batch_id=${batch_id}`)), 2)
      for (const to of ["+25078812", "%2B25078812", "25078812"]) {
        assert.deepStrictEqual(previews(yield* get(`?to=${to}`)), [sms], to)
      }
      assert.deepStrictEqual(previews(yield* get("?to=CARL%40")), ["Votre commande est prête"])
      const at = String(itemsOf(yield* get("?q=table"))[0]?.["created_at"])
      assert.notInclude(previews(yield* get(`?to_date=${at}`)), sms)
      assert.include(previews(yield* get(`?from_date=${at}`)), sms)
      assertRefused(yield* get("?metadata[a]=1&metadata[a]=2"), 422, "validation_error")
      for (
        const bad of ["channel=fax", "status=lost", "q=", "q=%20!", "to=", "from_date=today", "tag=", "per_page=101"]
      ) {
        assertRefused(yield* get(`?${bad}`), 422, "validation_error")
      }
    }))

  it.effect("filters by direction, together with other filters and within a search", () =>
    Effect.gen(function*() {
      const { accountId, get } = yield* withMessages
      const sql = yield* SqlClient.SqlClient
      yield* sql`insert into messages (account_id, channel, direction, sender, recipient, type, status, content)
        values (${accountId}, 'whatsapp', 'in', '+15550100301', '+15550100300', 'text', 'received', '{"body": "Hello there"}')`
      assert.deepStrictEqual(previews(yield* get("?direction=in")), ["Hello there"])
      assert.lengthOf(itemsOf(yield* get("?direction=out")), 6)
      assert.deepStrictEqual(previews(yield* get("?direction=out&channel=whatsapp")), ["Hola"])
      assert.deepStrictEqual(previews(yield* get("?direction=in&q=hello")), ["Hello there"])
      assert.deepStrictEqual(previews(yield* get("?direction=in&channel=email")), [])
      // The person of a conversation: the recipient of what is sent, and the sender of what is received.
      assert.deepStrictEqual(previews(yield* get("?to=%2B15550100301")).toSorted(), ["Hello there", "Hola"])
      assert.deepStrictEqual(previews(yield* get("?direction=out&to=%2B15550100301")), ["Hola"])
      assertRefused(yield* get("?direction=both"), 422, "validation_error")
    }))

  it.effect("filters by session and by the error code of failed messages, also within a search", () =>
    Effect.gen(function*() {
      const { accountId, get, session_id } = yield* withMessages
      const other = yield* withMessages
      const sql = yield* SqlClient.SqlClient
      const sms = "Your table is ready"
      yield* sql`update messages set status = 'failed', error_code = 'rejected' where account_id = ${accountId}
        and recipient in ('+250788123456', '+15550100301')`
      yield* sql`update messages set error_code = 'rejected' where account_id = ${other.accountId}`
      for (const q of ["", "&q=table", "&q=hola"]) {
        const among = (texts: ReadonlyArray<string>) =>
          texts.filter((text) => q === "" || text.toLowerCase().includes(q.slice(3)))
        assert.deepStrictEqual(previews(yield* get(`?session_id=${session_id}${q}`)), among(["Hola"]))
        assert.deepStrictEqual(previews(yield* get(`?session_id=${other.session_id}${q}`)), [])
        assert.deepStrictEqual(previews(yield* get(`?error_code=rejected${q}`)), among(["Hola", sms]))
        assert.deepStrictEqual(previews(yield* get(`?error_code=rejected&status=failed&channel=sms${q}`)), among([sms]))
        for (const none of ["error_code=rejected&status=sent", "error_code=other", "session_id=1&channel=sms"]) {
          assert.deepStrictEqual(previews(yield* get(`?${none}${q}`)), [], none)
        }
      }
      assertRefused(yield* get("?session_id=shop"), 422, "validation_error")
    }))

  it.effect("filters by the sender's domain and by the API key, at once and from the index, within the account alone", () =>
    Effect.gen(function*() {
      const { accountId, get, key, keyId, request } = yield* withMessages
      const other = yield* withMessages
      const robot = yield* makeKey(accountId)
      const domain = `mail${accountId}.example`
      yield* insertDomain(accountId, domain)
      const mail = { from: `us@${domain}`, subject: "By a robot", html: "<p>Hello</p>" }
      const steps = [{ channel: "sms", content: "A step" }]
      for (
        const [path, json] of [
          ["/v1/email/send", { ...mail, to: "ada@example.com" }],
          ["/v1/email/send-bulk", { ...mail, subject: "In a batch", recipients: ["bob@example.com"] }],
          ["/v1/sms/send-bulk", { content: "A bulk SMS", recipients: ["+250788123456"] }],
          ["/v1/messages", { to: { phone: "+250788123456" }, steps }]
        ] as const
      ) {
        assert.strictEqual((yield* request("POST", path, { key: robot.key, json })).status, 202, path)
      }
      const step = yield* eventually(get("?q=step"), (answer) => itemsOf(answer).length === 1)
      assert.deepStrictEqual(previews(step), ["A step"])
      const mails = ["In a batch", "By a robot"]
      const robots = ["A bulk SMS", ...mails]
      const found: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
        [`domain=${domain}`, mails],
        [`domain=${domain.toUpperCase()}.`, mails],
        [`domain=${domain}&q=batch`, ["In a batch"]],
        [`domain=${domain}&key_id=${robot.id}&channel=email`, mails],
        [`domain=${domain}&key_id=${keyId}`, []],
        [`domain=${domain}&channel=sms`, []],
        [`domain=www.${domain}`, []],
        ["domain=localhost.localdomain", ["Hello you", "Hello Zoë", "Votre commande est prête"]],
        [`key_id=${robot.id}`, ["A step", ...robots]],
        [`key_id=${robot.id}&tag=none`, []],
        [`key_id=${other.keyId}`, []],
        ["key_id=999999999", []]
      ]
      const check = Effect.gen(function*() {
        for (const [query, expected] of found) {
          assert.sameMembers(previews(yield* get(`?${query}`)), [...expected], query)
        }
        assert.lengthOf(itemsOf(yield* get(`?key_id=${keyId}`)), 6)
        for (const query of [`key_id=${robot.id}`, `key_id=${keyId}`, `domain=${domain}`]) {
          assert.deepStrictEqual(previews(yield* other.get(`?${query}`)), [], query)
        }
      })
      yield* check
      yield* waitForIndex
      assert.strictEqual((yield* request("DELETE", `/v1/api-keys/${robot.id}`, { key })).status, 200)
      yield* check
      for (const bad of ["domain=", "domain=us@host.example", "domain=host", "key_id=robot", "key_id=0", "key_id="]) {
        assertRefused(yield* get(`?${bad}`), 422, "validation_error")
      }
    }))

  it.effect("finds the words of recipients, subjects and texts at once, and from the index", () =>
    Effect.gen(function*() {
      const { get } = yield* withMessages
      const mail = "Votre commande est prête"
      const found: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
        ["prete commande", [mail]],
        ["CRÈME brulee", [mail]],
        ["carl", [mail]],
        ["bob@example.com", [mail]],
        ["zoe", ["Hello Zoë"]],
        ["lighthouse", ["Hello you", "Hello Zoë"]],
        ["lighthouse dora", ["Hello Zoë"]],
        ["ready tab", ["Your table is ready"]],
        ["123456", ["Your table is ready"]],
        ["hola", ["Hola"]],
        ["hola table", []]
      ]
      for (const [q, expected] of found) {
        assert.deepStrictEqual(previews(yield* get(`?q=${encodeURIComponent(q)}`)), [...expected], q)
      }
      yield* waitForIndex
      for (const [q, expected] of found) {
        assert.deepStrictEqual(previews(yield* get(`?q=${encodeURIComponent(q)}`)), [...expected], q)
      }
      assert.deepStrictEqual(previews(yield* get("?q=lighthouse&status=failed")), [])
      assert.deepStrictEqual(previews(yield* get("?to=emil@&q=hello")), ["Hello you"])
    }))

  it.effect("continues through all channels from a cursor, also within a search", () =>
    Effect.gen(function*() {
      const { get, post } = yield* withMessages
      for (const to of ["f1@example.com", "f2@example.com", "f3@example.com"]) {
        yield* post("/v1/email/send", { to, subject: "Lighthouse", text: "x" })
      }
      yield* waitForIndex
      yield* post("/v1/sms/send", { to: "+250788123456", content: "lighthouse" })
      for (const query of ["", "q=light&"]) {
        const all = itemsOf(yield* get(`?${query}per_page=100`)).map(({ href }) => href)
        assert.lengthOf(all, query === "" ? 10 : 6)
        const seen: Array<unknown> = []
        let cursor: unknown = ""
        while (cursor !== null) {
          const answer = yield* get(`?${query}per_page=2${cursor === "" ? "" : `&cursor=${String(cursor)}`}`)
          seen.push(...itemsOf(answer).map(({ href }) => href))
          cursor = answer.at("meta", "next_cursor")
        }
        assert.deepStrictEqual(seen, all)
      }
      const cursor = String((yield* get("?per_page=1&metadata[a]=1")).at("meta", "next_cursor"))
      assert.strictEqual(cursor, "null")
      const plain = String((yield* get("?per_page=1")).at("meta", "next_cursor"))
      assertRefused(yield* get(`?per_page=1&metadata[a]=1&cursor=${plain}`), 422, "validation_error")
      assertRefused(yield* get(`?per_page=1&tag=a&cursor=${plain}`), 422, "validation_error")
    }))

  it.effect("shows a key the channels of its scopes and permissions alone", () =>
    Effect.gen(function*() {
      const { accountId, get } = yield* withMessages
      const channels = (answer: Answer) => [...new Set(itemsOf(answer).map(({ channel }) => channel))].toSorted()
      const sms = yield* makeKey(accountId, { scopes: ["sms:write"] })
      assert.deepStrictEqual(channels(yield* get("", sms.key)), ["sms"])
      const refused = yield* get("?channel=email", sms.key)
      assertRefused(refused, 403, "insufficient_scope")
      assert.deepStrictEqual(refused.at("error", "required"), ["email:write"])
      const reader = yield* makeKey(accountId, { permissions: ["messages:read", "emails:read"] })
      assert.deepStrictEqual(channels(yield* get("", reader.key)), ["email", "whatsapp"])
      assertRefused(yield* get("?channel=sms", reader.key), 403, "insufficient_permission")
    }))
})

import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { EmailAddress } from "../../src/values/EmailAddress.ts"
import { ended, insertDomain, readMail, sendBulk } from "../support/bulkMail.ts"
import { Relay } from "../support/Relay.ts"
import { makeAccount, makeKey, type RunningNode, Service } from "../support/Service.ts"
import type { SmtpSink } from "../support/SmtpSink.ts"

const path = "/v1/email/templates"

const welcome = { name: "Welcome", subject: "Hello {{name}}", html: "<p>Hello {{name}} in {{shop.city|town}}</p>" }

/** Posts a template and returns its ids. */
const make = Effect.fnUntraced(function*(node: RunningNode, key: string, json: unknown = welcome) {
  const answer = yield* node.request("POST", path, { key, json })
  assert.strictEqual(answer.status, 201, answer.text)
  return { id: String(answer.at("data", "id")), number: Number(answer.at("data", "numeric_id")) }
})

const mailTo = (sink: SmtpSink, address: string) =>
  Effect.map(
    readMail(sink.messages.find(({ to }) => to[0] === address)?.raw ?? Buffer.alloc(0)),
    ({ mail }) => ({ subject: mail.subject, html: mail.html?.trim(), text: mail.text?.trim() })
  )

const people = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => ({ to: `${prefix}${index}@people.example`, variables: { name: index } }))

const hint = (name: string) => `or write a default into the text, as in {{${name}|there}}`

layer(Relay.layer(), { excludeTestServices: true })((it) => {
  describe("templates", () => {
    it.effect("a template can be created, read, changed and deleted", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const made = yield* node.request("POST", path, { key, json: { ...welcome, variables: ["x"], id: "tmpl_x" } })
        assert.strictEqual(made.status, 201)
        const id = String(made.at("data", "id"))
        const at = `${path}/${id}`
        const created_at = made.at("data", "created_at")
        assert.match(id, /^tmpl_[0-9A-HJKMNP-TV-Z]{26}$/)
        assert.match(String(created_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
        assert.strictEqual(made.headers["location"], at)
        assert.deepStrictEqual(made.json, {
          data: {
            id,
            numeric_id: made.at("data", "numeric_id"),
            ...welcome,
            text: null,
            variables: ["name", "shop.city"],
            created_at,
            updated_at: created_at
          }
        })
        assert.deepStrictEqual((yield* node.request("GET", at, { key })).json, made.json)

        const changed = yield* node.request("PUT", at, {
          key,
          json: { subject: "{{greeting}}", body_text: "{{name}}" }
        })
        assert.deepInclude(changed.at("data"), {
          name: "Welcome",
          subject: "{{greeting}}",
          html: welcome.html,
          text: "{{name}}",
          variables: ["greeting", "name", "shop.city"],
          created_at
        })
        assert.isTrue(String(changed.at("data", "updated_at")) > String(created_at))
        const cleared = yield* node.request("PUT", at, { key, json: { text: null, body_html: "<b>x</b>" } })
        assert.deepInclude(cleared.at("data"), { html: "<b>x</b>", text: null, variables: ["greeting"] })

        const gone = yield* node.request("DELETE", at, { key })
        assert.deepInclude(gone.json, { success: true, data: null })
        for (const method of ["GET", "PUT", "DELETE"]) {
          const answer = yield* node.request(method, at, { key, ...(method === "PUT" && { json: {} }) })
          assert.deepStrictEqual([answer.status, answer.at("error", "type")], [404, "not_found"])
        }
      }))

    it.effect("templates are listed newest first in pages, without texts, and names may repeat", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const ids: Array<string> = []
        for (const name of ["A", "B", "B", "C"]) ids.unshift((yield* make(node, key, { ...welcome, name })).id)
        yield* make(node, (yield* makeAccount()).key)
        const pages = yield* Effect.forEach(
          [1, 2, 3],
          (page) => node.request("GET", `${path}?page=${page}&per_page=3`, { key })
        )
        const rows = pages.flatMap(({ at }) => at("data") as ReadonlyArray<Record<string, unknown>>)
        assert.deepStrictEqual(rows.map((row) => row["id"]), ids)
        assert.deepStrictEqual(rows.map((row) => row["name"]), ["C", "B", "B", "A"])
        assert.hasAllKeys(rows[0] ?? {}, [
          "id",
          "numeric_id",
          "name",
          "subject",
          "variables",
          "created_at",
          "updated_at"
        ])
        for (const [index, { at }] of pages.entries()) {
          assert.deepInclude(Object(at("meta")), { total: 4, page: index + 1, per_page: 3 })
        }
        assert.match(pages[0]?.headers["link"] ?? "", /page=2&per_page=3>; rel="next"/)
      }))

    it.effect("a template's numeric id still works everywhere and adds a Deprecation header, also to replayed answers", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const { id, number } = yield* make(node, key)
        const byId = yield* node.request("GET", `${path}/${id}`, { key })
        const byNumber = yield* node.request("GET", `${path}/${number}`, { key })
        assert.deepStrictEqual(byNumber.json, byId.json)
        assert.deepStrictEqual([byId.headers["deprecation"], byNumber.headers["deprecation"]], [
          undefined,
          "@1795219200"
        ])
        for (const template_id of [number, String(number), id]) {
          const send = node.request("POST", "/v1/email/send-bulk", {
            key,
            json: { template_id, recipients: people(1, "numbered") },
            headers: { "idempotency-key": `once-${typeof template_id}-${template_id}` }
          })
          const [first, again] = [yield* send, yield* send]
          assert.deepStrictEqual([first.status, again.status, again.headers["idempotency-replayed"]], [
            202,
            202,
            "true"
          ])
          const wanted = template_id === id ? undefined : "@1795219200"
          assert.deepStrictEqual([first.headers["deprecation"], again.headers["deprecation"]], [wanted, wanted])
        }
        const changed = yield* node.request("PUT", `${path}/${number}`, { key, json: { name: "New" } })
        assert.deepStrictEqual([changed.status, changed.headers["deprecation"]], [200, "@1795219200"])
        const gone = yield* node.request("DELETE", `${path}/${number}`, { key })
        assert.deepStrictEqual([gone.status, gone.headers["deprecation"]], [200, "@1795219200"])
      }))

    it.effect("templates require email:write and separate permissions to read and write", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { accountId, key } = yield* makeAccount()
        const { id } = yield* make(node, key)
        const reader = yield* makeKey(accountId, { scopes: ["email:write"], permissions: ["templates:read"] })
        const writer = yield* makeKey(accountId, { scopes: ["email:write"], permissions: ["templates:write"] })
        const sender = yield* makeKey(accountId, { scopes: ["email:write"], permissions: ["emails:write"] })
        const statuses = (key: string) =>
          Effect.map(
            Effect.all([
              node.request("GET", `${path}/${id}`, { key }),
              node.request("PUT", `${path}/${id}`, { key, json: {} }),
              node.request("POST", "/v1/email/send-bulk", {
                key,
                json: { template_id: id, recipients: people(1, "permitted") }
              })
            ]),
            (answers) => answers.map(({ status }) => status)
          )
        assert.deepStrictEqual(yield* statuses(reader.key), [200, 403, 403])
        assert.deepStrictEqual(yield* statuses(writer.key), [403, 200, 403])
        // Using a template requires only the permission to send.
        assert.deepStrictEqual(yield* statuses(sender.key), [403, 403, 202])
      }))

    it.effect("invalid input is refused with its field and reason, and nothing is stored", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const { id } = yield* make(node, key)
        const before = (yield* node.request("GET", `${path}/${id}`, { key })).text
        const { html: _, ...bare } = welcome
        const ofBoth: ReadonlyArray<readonly [object, param: string, message: RegExp]> = [
          [{ name: "" }, "name", /empty/],
          [{ name: "n".repeat(201) }, "name", /at most 200/],
          [{ name: "a\nb" }, "name", /line breaks/],
          [{ name: null }, "name", /string/],
          [{ subject: "" }, "subject", /empty/],
          [{ subject: " \u2003 " }, "subject", /blank/],
          [{ subject: "s".repeat(501) }, "subject", /at most 500/],
          [{ subject: "a\r\nBcc: x@y.example" }, "subject", /line breaks/],
          [{ subject: "Hi {{name" }, "subject", /line 1, column 4: .*not closed/],
          [{ html: "" }, "html", /empty/],
          [{ html: null }, "html", /string/],
          [{ html: "a\u0000b" }, "html", /NUL/],
          [{ html: "\ud800" }, "html", /Unicode/],
          [{ html: "x".repeat(1_000_001) }, "html", /at most 1000000/],
          [{ html: "<p>\n  {{#each items}}" }, "html", /line 2, column 3: .*placeholder/],
          [{ html: "{{__proto__}}" }, "html", /line 1, column 1: .*reserved/],
          [
            { html: Array.from({ length: 501 }, (_, index) => `{{v${index}}}`).join("") },
            "",
            /The body must have at most 500 different variables/
          ],
          [{ text: `{{${"v".repeat(101)}}}` }, "", /names of at most 100 characters/],
          [{ body_html: 7 }, "body_html", /string/],
          [{ text: "" }, "text", /empty/],
          [{ text: "a\n\n{{{b}}}" }, "text", /line 3, column 1: three braces/],
          [{ body_text: "{{}}" }, "body_text", /line 1, column 1: there is no name/]
        ]
        const ofNew: typeof ofBoth = [
          [{ ...bare, name: undefined }, "name", /is required/],
          [{ ...bare, subject: undefined }, "subject", /is required/],
          [bare, "html", /is required/],
          [{ ...bare, body_html: "{{ 1 }}" }, "body_html", /line 1, column 1/]
        ]
        const cases = [
          ...ofBoth.map(([change, ...wanted]) => ["PUT", `${path}/${id}`, change, wanted] as const),
          ...ofBoth.map(([change, ...wanted]) => ["POST", path, { ...welcome, ...change }, wanted] as const),
          ...ofNew.map(([json, ...wanted]) => ["POST", path, json, wanted] as const)
        ]
        for (const [method, at, json, [param, message]] of cases) {
          const answer = yield* node.request(method, at, { key, json })
          const what = `${answer.text.slice(0, 300)} for ${method} ${JSON.stringify(json).slice(0, 200)}`
          assert.deepStrictEqual([answer.status, answer.at("error", "param")], [422, param], what)
          assert.match(String(answer.at("error", "message")), message, what)
        }
        const huge = yield* node.request("POST", path, { key, json: { ...welcome, html: "x".repeat(1_048_576) } })
        assert.deepStrictEqual([huge.status, huge.at("error", "limit_bytes")], [413, 1_048_576])
        const largest = yield* node.request("POST", path, { key, json: { ...welcome, html: "x".repeat(1_000_000) } })
        assert.strictEqual(largest.status, 201)
        yield* node.request("DELETE", `${path}/${String(largest.at("data", "id"))}`, { key })
        assert.strictEqual((yield* node.request("GET", `${path}/${id}`, { key })).text, before)
        assert.strictEqual((yield* node.request("GET", path, { key })).at("meta", "total"), 1)
        const page = yield* node.request("GET", `${path}?per_page=101`, { key })
        assert.deepStrictEqual([page.status, page.at("error", "param")], [422, "per_page"])
      }))

    it.effect("concurrent changes to different fields are all kept, and a deleted template stays deleted", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const { id } = yield* make(node, key)
        const put = (json: object) => node.request("PUT", `${path}/${id}`, { key, json })
        const parts = Array.from({ length: 20 }, (_, index) => index)
        const answers = yield* Effect.forEach(
          parts.flatMap((
            index
          ) => [{ subject: `{{s${index}}}` }, { html: `{{h${index}}}` }, { text: `{{t${index}}}` }]),
          put,
          { concurrency: "unbounded" }
        )
        assert.isTrue(answers.every(({ status }) => status === 200))
        const { at } = yield* node.request("GET", `${path}/${id}`, { key })
        const names = ["subject", "html", "text"].map((part) => String(at("data", part)).slice(2, -2))
        assert.deepStrictEqual(at("data", "variables"), names)
        assert.match(names.join(), /^s\d+,h\d+,t\d+$/)
        const [gone, ...changes] = yield* Effect.all(
          [node.request("DELETE", `${path}/${id}`, { key }), ...parts.map((index) => put({ name: `N${index}` }))],
          { concurrency: "unbounded" }
        )
        assert.strictEqual(gone?.status, 200)
        assert.isTrue(changes.every(({ status }) => status === 200 || status === 404))
        assert.strictEqual((yield* put({ name: "Back" })).status, 404)
      }))

    it.effect("a change of the texts keeps those before as a version, and a change of the name alone does not", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const { id } = yield* make(node, key)
        const put = (json: object) => node.request("PUT", `${path}/${id}`, { key, json })
        const versions = Effect.map(
          node.request("GET", `${path}/${id}/versions`, { key }),
          ({ at }) => at("data") as ReadonlyArray<Record<string, unknown>>
        )
        assert.deepStrictEqual(yield* versions, [])
        yield* put({ name: "Other" })
        yield* put({ subject: welcome.subject, html: welcome.html, text: null })
        yield* put({ subject: "{{oops" })
        assert.deepStrictEqual(yield* versions, [])
        const changed = yield* put({ name: "Third", subject: "Dear {{name}}" })
        yield* put({ text: "Plain" })
        yield* put({ html: "<b>x</b>" })
        const listed = yield* versions
        const kept = yield* Effect.forEach(listed, ({ id: version }) =>
          Effect.map(
            node.request("GET", `${path}/${id}/versions/${String(version)}`, { key }),
            ({ at }) => at("data") as Record<string, unknown>
          ))
        // The list leaves out the texts, which may be megabytes.
        assert.deepStrictEqual(listed, kept.map(({ html: _, text: __, ...rest }) => rest))
        const { html, subject } = welcome
        assert.deepStrictEqual(kept.map(({ created_at: _, id: __, ...texts }) => texts), [
          { subject: "Dear {{name}}", html, text: "Plain" },
          { subject: "Dear {{name}}", html, text: null },
          { subject, html, text: null }
        ])
        assert.hasAllKeys(kept[0] ?? {}, ["id", "created_at", "subject", "html", "text"])
        const [third, second, first] = kept.map(({ created_at }) => String(created_at))
        assert.isTrue(String(first) <= String(changed.at("data", "updated_at")))
        assert.deepStrictEqual([first, second, third], [first, second, third].toSorted())
      }))

    it.effect("a restored version becomes the texts, and the texts before become a version, so that nothing is lost", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const { id, number } = yield* make(node, key)
        const at = `${path}/${id}`
        yield* node.request("PUT", at, {
          key,
          json: { name: "New", subject: "{{greeting}}", html: "<b>x</b>", text: "y" }
        })
        const list = node.request("GET", `${at}/versions`, { key })
        const oldest = Number((yield* list).at("data", 0, "id"))
        const restore = (ref: string | number, headers = {}) =>
          node.request("POST", `${path}/${ref}/versions/${oldest}/restore`, { key, headers })
        const headers = { "idempotency-key": `restore-${id}` }
        const restored = yield* restore(id, headers)
        assert.strictEqual(restored.status, 200, restored.text)
        assert.deepInclude(restored.at("data"), {
          ...welcome,
          name: "New",
          text: null,
          variables: ["name", "shop.city"]
        })
        assert.deepStrictEqual((yield* node.request("GET", at, { key })).json, restored.json)
        // Neither the same request again nor a restore of the present texts adds a version.
        assert.strictEqual((yield* restore(id, headers)).headers["idempotency-replayed"], "true")
        assert.strictEqual((yield* restore(number)).headers["deprecation"], "@1795219200")
        const after = yield* list
        assert.deepStrictEqual([after.at("data", 0, "subject"), after.at("data", 1, "id")], ["{{greeting}}", oldest])
        assert.strictEqual(after.at("data", 2), undefined)
        assert.strictEqual(after.headers["deprecation"], undefined)

        const other = yield* makeAccount()
        const { id: own } = yield* make(node, key)
        const { id: theirs } = yield* make(node, other.key)
        for (
          const [caller, ref, version] of [
            [other.key, id, oldest],
            [other.key, theirs, oldest],
            [key, own, oldest],
            [key, id, oldest + 1_000_000],
            [key, id, "x"]
          ] as const
        ) {
          const one = `${path}/${ref}/versions/${version}`
          for (const [method, asked] of [["GET", one], ["POST", `${one}/restore`]] as const) {
            const answer = yield* node.request(method, asked, { key: caller })
            assert.deepStrictEqual(
              [answer.status, answer.at("error", "type")],
              [404, "not_found"],
              `${method} ${asked}`
            )
          }
        }
        const foreign = yield* node.request("GET", `${at}/versions`, { key: other.key })
        assert.deepStrictEqual([foreign.status, foreign.at("error", "type")], [404, "not_found"])

        const sql = yield* SqlClient.SqlClient
        yield* node.request("DELETE", at, { key })
        assert.deepStrictEqual(yield* sql`select from email_template_versions where template_id = ${id}`, [])
        assert.strictEqual((yield* list).status, 404)
        assert.strictEqual((yield* restore(id)).status, 404)
      }))

    it.effect("a template has its last 20 versions, also after concurrent changes", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const [{ id }, { id: neighbour }] = [yield* make(node, key), yield* make(node, key)]
        const put = (subject: string, ref = id) => node.request("PUT", `${path}/${ref}`, { key, json: { subject } })
        const subjects = (ref: string) =>
          Effect.map(
            node.request("GET", `${path}/${ref}/versions`, { key }),
            ({ at }) => (at("data") as ReadonlyArray<Record<string, unknown>>).map(({ subject }) => subject)
          )
        yield* put("N", neighbour)
        for (let index = 0; index <= 21; index++) yield* put(`S${index}`)
        assert.deepStrictEqual(yield* subjects(id), Array.from({ length: 20 }, (_, index) => `S${20 - index}`))
        const many = Array.from({ length: 25 }, (_, index) => `C${index}`)
        yield* Effect.forEach(many, (subject) => put(subject), { concurrency: "unbounded" })
        const last = (yield* node.request("GET", `${path}/${id}`, { key })).at("data", "subject")
        const kept = yield* subjects(id)
        assert.strictEqual(new Set([...kept, last]).size, 21)
        assert.isTrue(kept.every((subject) => many.includes(String(subject))))
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql`select from email_template_versions where template_id = ${id}`
        assert.strictEqual(rows.length, 20)
        assert.deepStrictEqual(yield* subjects(neighbour), [welcome.subject])
      }))
  })

  describe("bulk email by template", () => {
    it.effect("a template is rendered for each recipient, escaped in HTML, with a text made from it", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { sink } = yield* Relay
        const { accountId, key } = yield* makeAccount()
        yield* insertDomain(accountId, "news.example")
        const { id, number } = yield* make(node, key)
        const bulk = {
          recipients: [{ to: "ada@people.example", variables: { name: "<Ada>", shop: { city: "Kigali" } } }]
        }
        const batch = yield* sendBulk(node, key, { ...bulk, template_id: id, from: "us@news.example" })
        assert.deepInclude((yield* ended(node, key, batch)).at("data"), { status: "completed", total: 1, sent: 1 })
        assert.deepStrictEqual(yield* mailTo(sink, "ada@people.example"), {
          subject: "Hello <Ada>",
          html: "<p>Hello &lt;Ada&gt; in Kigali</p>",
          text: "Hello <Ada> in Kigali"
        })
        // A subject in the request replaces the template's.
        yield* node.request("PUT", `${path}/${id}`, { key, json: { text: "Plain {{name}}" } })
        const second = yield* sendBulk(node, key, {
          template_id: number,
          subject: "{{kind}} news",
          recipients: [{ to: "bob@people.example", variables: { name: "Bob", kind: "Good" } }]
        })
        yield* ended(node, key, second)
        assert.deepStrictEqual(yield* mailTo(sink, "bob@people.example"), {
          subject: "Good news",
          html: "<p>Hello Bob in town</p>",
          text: "Plain Bob"
        })
      }))

    it.effect("missing variables are reported for each recipient by index, and nothing is sent", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount()
        const { id } = yield* make(node, key, { ...welcome, text: "{{name}} {{code}}" })
        const answer = yield* node.request("POST", "/v1/email/send-bulk", {
          key,
          json: {
            template_id: id,
            recipients: [
              "a@people.example",
              { to: "b@people.example", variables: { name: "B", code: 1 } },
              { to: "c@people.example", variables: { name: "C" } },
              { to: "d@people.example", variables: { name: { first: "D" }, code: { text: 1 } } },
              { to: "e@people.example", variables: { name: { first: "E" } } }
            ]
          }
        })
        assert.deepStrictEqual([answer.status, answer.at("error", "param")], [422, "recipients[0].variables"])
        assert.deepStrictEqual(answer.at("error", "errors"), [
          {
            param: "recipients[0].variables",
            type: "missing_variable",
            message: `must have a value for name, code; ${hint("name")}`
          },
          {
            param: "recipients[2].variables",
            type: "missing_variable",
            message: `must have a value for code; ${hint("code")}`
          },
          {
            param: "recipients[3].variables",
            type: "missing_variable",
            message: "must have text, a number, true or false for name, code, not a list or an object"
          },
          {
            param: "recipients[4].variables",
            type: "missing_variable",
            message: `must have a value for code; ${
              hint("code")
            }; must have text, a number, true or false for name, not a list or an object`
          }
        ])
        assert.deepStrictEqual(yield* sql`select id from email_batches where account_id = ${accountId}`, [])
      }))

    it.effect("any id that is not a template of the account gets the same 404, and conflicting fields get 422", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount()
        const foreign = yield* make(node, (yield* makeAccount()).key)
        const { id } = yield* make(node, key)
        const deleted = yield* make(node, key)
        yield* node.request("DELETE", `${path}/${deleted.id}`, { key })
        const send = (json: object) =>
          node.request("POST", "/v1/email/send-bulk", { key, json: { recipients: people(1, "nobody"), ...json } })
        const unknown = [
          "",
          "welcome",
          "tmpl_",
          `tmpl_${"0".repeat(26)}`,
          "01",
          "1e3",
          0,
          -1,
          1.5,
          9_007_199_254_740_991
        ]
        for (const ref of [foreign.id, foreign.number, deleted.id, deleted.number, id.toLowerCase(), ...unknown]) {
          const answer = yield* send({ template_id: ref })
          assert.strictEqual(answer.status, 404, `${ref}: ${answer.text}`)
          assert.deepStrictEqual(answer.at("error"), {
            type: "not_found",
            code: 4040,
            message: "template_id: not found in this account. Check the id.",
            doc_url: "/docs/guides/errors#not_found",
            param: "template_id"
          })
        }
        const client = yield* node.client(key)
        const to = EmailAddress.make("nobody@people.example")
        const typed = client.bulkEmail.sendBulk({ payload: { template_id: "welcome", recipients: [{ to }] } })
        assert.deepInclude(yield* Effect.flip(typed), { _tag: "NotFound", param: "template_id" })
        const refused: ReadonlyArray<readonly [object, param: string, message: RegExp]> = [
          [{ template_id: true }, "template_id", /string or a number/],
          [{ template_id: null }, "template_id", /string or a number/],
          [{ template_id: [id] }, "template_id", /string or a number/],
          [{ template_id: id, html: "<p>x</p>" }, "html", /left out/],
          [{ template_id: id, text: "x" }, "text", /left out/],
          [{ template_id: id, subject: "{{ 1 }}" }, "subject", /line 1, column 1/],
          [{ template_id: id, subject: "{{other}}" }, "recipients[0].variables", /value for other/],
          [{ subject: "s" }, "html", /required unless text or template_id/],
          [{ html: "h" }, "subject", /required unless template_id/],
          [{}, "subject", /required unless template_id/]
        ]
        for (const [json, param, message] of refused) {
          const answer = yield* send(json)
          assert.deepStrictEqual([answer.status, answer.at("error", "param")], [422, param], answer.text)
          assert.match(String(answer.at("error", "message")), message)
        }
        assert.deepStrictEqual(yield* sql`select id from email_batches where account_id = ${accountId}`, [])
      }))

    it.effect("an accepted batch uses the template as it was, even when it is changed or deleted meanwhile", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { sink } = yield* Relay
        const { key } = yield* makeAccount()
        const { id } = yield* make(node, key, {
          name: "First",
          subject: "First {{name}}",
          html: "<p>First {{name}}</p>"
        })
        const arrived = (prefix: string) => sink.messages.filter(({ to }) => to[0]?.startsWith(prefix))
        const first = yield* sendBulk(node, key, { template_id: id, recipients: people(150, "slowfirst") })
        yield* sink.until(() => arrived("slowfirst").length >= 10)
        const json = { subject: "Second {{name}} {{more}}", html: "<p>Second {{name}}</p>", text: "Second" }
        assert.strictEqual((yield* node.request("PUT", `${path}/${id}`, { key, json })).status, 200)
        const recipients = people(100, "slowsecond").map(({ to, variables }) => ({
          to,
          variables: { ...variables, more: "!" }
        }))
        const second = yield* sendBulk(node, key, { template_id: id, recipients })
        yield* sink.until(() => arrived("slowsecond").length >= 1)
        assert.strictEqual((yield* node.request("DELETE", `${path}/${id}`, { key })).status, 200)
        assert.isBelow(arrived("slowsecond").length, 100)
        assert.deepInclude((yield* ended(node, key, first)).at("data"), { status: "completed", sent: 150, failed: 0 })
        assert.deepInclude((yield* ended(node, key, second)).at("data"), { status: "completed", sent: 100, failed: 0 })
        for (const { to: [address = ""] } of arrived("slowfirst")) {
          const name = /\d+/.exec(address)?.[0]
          const text = `First ${name}`
          assert.deepStrictEqual(yield* mailTo(sink, address), { subject: text, html: `<p>${text}</p>`, text })
        }
        for (const { to: [address = ""] } of arrived("slowsecond")) {
          const name = /\d+/.exec(address)?.[0]
          assert.deepStrictEqual(yield* mailTo(sink, address), {
            subject: `Second ${name} !`,
            html: `<p>Second ${name}</p>`,
            text: "Second"
          })
        }
        const late = yield* node.request("POST", "/v1/email/send-bulk", {
          key,
          json: { template_id: id, recipients: people(1, "late") }
        })
        assert.strictEqual(late.status, 404)
      }))
  })
})

import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { asking, ended, sendBulk } from "../support/bulkMail.ts"
import { Relay } from "../support/Relay.ts"
import { makeAccount, makeKey, type RunningNode, Service } from "../support/Service.ts"
import { reaching, sendEmail } from "../support/singleMail.ts"

const path = "/v1/email/suppressions"

const at = (email: string) => `${path}/${encodeURIComponent(email)}`

/** Suppresses an address by hand and returns the answer. */
const add = Effect.fnUntraced(function*(node: RunningNode, key: string, email: string) {
  const answer = yield* node.request("POST", path, { key, json: { email } })
  assert.strictEqual(answer.status, 201, answer.text)
  return answer
})

/** Inserts a suppression as the service does after a report. */
const learn = (accountId: number, email: string, reason: "unsubscribe" | "bounce" | "complaint") =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`insert into suppressions (account_id, email, reason, source_message_id)
        values (${accountId}, ${email}, ${reason}, 7)`
  )

const emailsOf = (answer: { readonly at: (...path: ReadonlyArray<string | number>) => unknown }) =>
  (answer.at("data") as ReadonlyArray<{ email: string }>).map(({ email }) => email) // as the contract says

layer(Relay.layer(), { excludeTestServices: true })((it) => {
  describe("suppressions", () => {
    it.effect("a suppression is added, read, listed and deleted by its normalised address", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const made = yield* add(node, key, "Ada.L@BÜCHER.Example")
        const email = "ada.l@xn--bcher-kva.example"
        const created_at = made.at("data", "created_at")
        assert.match(String(created_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
        assert.deepStrictEqual(made.json, { data: { email, reason: "manual", source_message_id: null, created_at } })
        assert.strictEqual(made.headers["location"], at(email))
        for (const spelling of [email, "ADA.L@bücher.example", "Ada.L@BÜCHER.Example"]) {
          assert.deepStrictEqual((yield* node.request("GET", at(spelling), { key })).json, made.json)
        }
        assert.deepStrictEqual((yield* node.request("GET", path, { key })).json, {
          data: [made.at("data")],
          meta: { total: 1, page: 1, per_page: 25, next_cursor: null }
        })
        const gone = yield* node.request("DELETE", at("ADA.l@bücher.example"), { key })
        assert.strictEqual(gone.status, 200)
        assert.deepInclude(gone.json, { success: true, data: null })
        for (const method of ["GET", "DELETE"]) {
          const answer = yield* node.request(method, at(email), { key })
          assert.deepStrictEqual([answer.status, answer.at("error", "type")], [404, "not_found"])
        }
        assert.deepStrictEqual((yield* node.request("GET", path, { key })).at("data"), [])
      }))

    it.effect("an address with special characters is found when percent-encoded in the path", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const local = ["a/b", "a%2fb", "a%b", "a+b", "it's", "a?b", "a#b", "a&b=c", "!*{}|~^`"]
        for (const email of local.map((text) => `${text}@people.example`)) {
          const made = yield* add(node, key, email)
          assert.strictEqual(made.at("data", "email"), email)
          const place = String(made.headers["location"])
          assert.deepStrictEqual((yield* node.request("GET", place, { key })).json, made.json)
          assert.strictEqual((yield* node.request("DELETE", place, { key })).status, 200)
          assert.strictEqual((yield* node.request("GET", place, { key })).status, 404)
        }
      }))

    it.effect("suppressions are listed newest first in pages and filtered by reason or address", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { accountId, key } = yield* makeAccount()
        yield* add(node, key, "first@people.example")
        const sql = yield* SqlClient.SqlClient
        // Bounces recorded in one transaction have the same time, so the address decides their order.
        yield* sql`insert into suppressions (account_id, email, reason)
        select ${accountId}::bigint, name || '@people.example', 'bounce' from unnest(array['c', 'a', 'b']) name`
        yield* learn(accountId, "left@people.example", "unsubscribe")
        yield* add(node, (yield* makeAccount()).key, "first@people.example")
        const list = (query: string) => node.request("GET", `${path}?${query}`, { key })
        const pages = yield* Effect.forEach([1, 2, 3], (page) => list(`page=${page}&per_page=2`))
        const order = ["left", "a", "b", "c", "first"].map((name) => `${name}@people.example`)
        assert.deepStrictEqual(pages.flatMap(emailsOf), order)
        assert.deepStrictEqual(pages.map(({ at }) => at("meta", "total")), [5, 5, 5])
        assert.match(pages[0]?.headers["link"] ?? "", /page=2&per_page=2>; rel="next"/)

        const bounces = yield* list("reason=bounce&per_page=1&page=2")
        assert.deepStrictEqual([emailsOf(bounces), bounces.at("meta", "total")], [["b@people.example"], 3])
        assert.deepStrictEqual(emailsOf(yield* list("email=A%40PEOPLE.example")), ["a@people.example"])
        assert.deepStrictEqual(emailsOf(yield* list("email=a%40people.example&reason=manual")), [])
        assert.strictEqual((yield* list("reason=unsubscribe")).at("data", 0, "source_message_id"), 7)
        for (const [query, param] of [["reason=spam", "reason"], ["email=a", "email"], ["per_page=101", "per_page"]]) {
          const answer = yield* list(String(query))
          assert.deepStrictEqual([answer.status, answer.at("error", "param")], [422, param])
        }
      }))

    it.effect("adding an address again, even concurrently, returns the existing suppression", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { accountId, key } = yield* makeAccount()
        const answers = yield* Effect.forEach(
          Array.from({ length: 20 }, (_, index) => index % 2 === 0 ? "twice@people.example" : "TWICE@people.example"),
          (email) => add(node, key, email),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(answers.map(({ text }) => text)).size, 1)
        assert.strictEqual((yield* node.request("GET", path, { key })).at("meta", "total"), 1)
        yield* learn(accountId, "left@people.example", "unsubscribe")
        const again = yield* add(node, key, "Left@people.example")
        assert.deepInclude(again.at("data"), { reason: "unsubscribe", source_message_id: 7 })
      }))

    it.effect("many addresses are added at once, each of them once, unless one is invalid", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { accountId, key } = yield* makeAccount()
        yield* learn(accountId, "left@people.example", "unsubscribe")
        const addMany = (emails: ReadonlyArray<string>) =>
          node.request("POST", "/v1/email/suppress-bulk", { key, json: { emails } })
        const added = yield* addMany([
          "Ada@people.example",
          "ada@PEOPLE.example",
          "left@people.example",
          "bob@BÜCHER.example"
        ])
        assert.deepStrictEqual(added.json, { success: true, data: { added: 2, existing: 1 } })
        assert.strictEqual(
          (yield* node.request("GET", at("left@people.example"), { key })).at("data", "reason"),
          "unsubscribe"
        )
        assert.sameMembers(emailsOf(yield* node.request("GET", path, { key })), [
          "ada@people.example",
          "bob@xn--bcher-kva.example",
          "left@people.example"
        ])
        for (
          const [emails, param] of [
            [["new@people.example", "bob"], "emails[1]"],
            [[], "emails"],
            [Array.from({ length: 501 }, (_, index) => `a${index}@people.example`), "emails"]
          ] as const
        ) {
          const answer = yield* addMany(emails)
          assert.deepStrictEqual([answer.status, answer.at("error", "param")], [422, param])
        }
        assert.strictEqual((yield* node.request("GET", path, { key })).at("meta", "total"), 3)
      }))

    it.effect("a complaint cannot be deleted, other suppressions can", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { accountId, key } = yield* makeAccount()
        for (const reason of ["unsubscribe", "bounce", "complaint"] as const) {
          yield* learn(accountId, `${reason}@people.example`, reason)
        }
        yield* add(node, key, "manual@people.example")
        yield* add(node, key, "complaint@people.example")
        const remove = (reason: string) => node.request("DELETE", at(`${reason}@people.example`), { key })
        const refused = yield* remove("complaint")
        assert.strictEqual(refused.status, 409)
        assert.deepInclude(refused.at("error"), {
          type: "complaint_not_removable",
          code: 4098,
          message:
            "The owner of this address reported your mail as spam, so it stays suppressed. Do not email it again."
        })
        for (const reason of ["unsubscribe", "bounce", "manual"]) {
          assert.strictEqual((yield* remove(reason)).status, 200, reason)
        }
        const left = yield* node.request("GET", path, { key })
        assert.deepStrictEqual(emailsOf(left), ["complaint@people.example"])
        assert.strictEqual(left.at("data", 0, "reason"), "complaint")
      }))

    it.effect("another account's suppressions are invisible and have no effect", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { accountId, key } = yield* makeAccount()
        const other = yield* makeAccount()
        yield* learn(accountId, "shared@people.example", "complaint")
        for (const method of ["GET", "DELETE"]) {
          assert.strictEqual((yield* node.request(method, at("shared@people.example"), { key: other.key })).status, 404)
        }
        assert.strictEqual((yield* node.request("GET", path, { key: other.key })).at("meta", "total"), 0)
        const statusOf = Effect.fnUntraced(function*(key: string) {
          const id = yield* sendEmail(node, key, { to: "shared@people.example", subject: "Hello", text: "Hello" })
          return (yield* reaching(node, { id, key, statuses: ["sent", "suppressed"] }))["status"]
        })
        assert.deepStrictEqual([yield* statusOf(key), yield* statusOf(other.key)], ["suppressed", "sent"])
        const own = yield* add(node, other.key, "shared@people.example")
        assert.strictEqual(own.at("data", "reason"), "manual")
        assert.strictEqual((yield* node.request("DELETE", at("shared@people.example"), { key: other.key })).status, 200)
        assert.strictEqual((yield* node.request("GET", at("shared@people.example"), { key })).status, 200)
      }))

    it.effect("suppressions require email:write and separate permissions to read and write", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { accountId, key } = yield* makeAccount()
        yield* add(node, key, "kept@people.example")
        const scopes = ["email:write"] as const
        const reader = yield* makeKey(accountId, { scopes, permissions: ["emails:read"] })
        const writer = yield* makeKey(accountId, { scopes, permissions: ["emails:write"] })
        const statuses = (key: string) =>
          Effect.map(
            Effect.all([
              node.request("GET", path, { key }),
              node.request("GET", at("kept@people.example"), { key }),
              node.request("POST", path, { key, json: { email: "kept@people.example" } }),
              node.request("DELETE", at("unknown@people.example"), { key })
            ]),
            (answers) => answers.map(({ status }) => status)
          )
        assert.deepStrictEqual(yield* statuses(reader.key), [200, 200, 403, 403])
        assert.deepStrictEqual(yield* statuses(writer.key), [403, 403, 201, 404])
      }))

    it.effect("an invalid address or a reason other than manual is refused with 422", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const email = "a@people.example"
        const cases: ReadonlyArray<readonly [json: object, param: string, message: RegExp]> = [
          [{}, "email", /is required/],
          [{ email: "people.example" }, "email", /has no @/],
          [{ email: "a@people.example, b@people.example" }, "email", /must be one address/],
          [{ email: "Ada <a@people.example>" }, "email", /bare address/],
          [{ email: "*@people" }, "email", /wrong domain/],
          [{ email: ["a@people.example"] }, "email", /string/],
          ...["bounce", "complaint", "unsubscribe", "", "Manual", null, 1].map((reason) =>
            [{ email, reason }, "reason", /must be "manual" or absent/] as const
          )
        ]
        for (const [json, param, message] of cases) {
          const answer = yield* node.request("POST", path, { key, json })
          assert.deepStrictEqual([answer.status, answer.at("error", "param")], [422, param], JSON.stringify(json))
          assert.match(String(answer.at("error", "message")), message)
        }
        assert.strictEqual((yield* node.request("GET", path, { key })).at("meta", "total"), 0)
        const said = yield* node.request("POST", path, { key, json: { email, reason: "manual" } })
        assert.deepStrictEqual([said.status, said.at("data", "reason")], [201, "manual"])
      }))
  })

  describe("sending to a suppressed address", () => {
    const mail = { subject: "s", html: "h" }

    it.effect("bulk email skips a suppressed address until the suppression is deleted", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { sink } = yield* Relay
        const { key } = yield* makeAccount()
        yield* add(node, key, "Listed@people.example")
        const recipients = ["LISTED@people.example", "free@people.example"]
        const first = yield* ended(node, key, yield* sendBulk(node, key, { ...mail, recipients }))
        assert.deepInclude(first.at("data"), { status: "completed", total: 2, sent: 1, suppressed: 1 })
        assert.isUndefined(sink.attempts.get("LISTED@people.example"))
        yield* node.request("DELETE", at("listed@people.example"), { key })
        const second = yield* ended(node, key, yield* sendBulk(node, key, { ...mail, recipients }))
        assert.deepInclude(second.at("data"), { status: "completed", total: 2, sent: 2, suppressed: 0 })
        assert.strictEqual(sink.attempts.get("LISTED@people.example"), 1)
      }))

    it.effect("the answer to bulk email counts queued and suppressed recipients separately", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        yield* add(node, key, "counted@people.example")
        const countsOf = (recipients: ReadonlyArray<string>) =>
          Effect.map(
            node.request("POST", "/v1/email/send-bulk", { key, json: { ...mail, recipients } }),
            ({ at }) => String(at("data", "message")).replace(/\..*/, "")
          )
        assert.strictEqual(yield* countsOf(["counted@people.example"]), "0 emails are queued, 1 is suppressed")
        assert.strictEqual(
          yield* countsOf(["counted@people.example", "other@people.example"]),
          "1 email is queued, 1 is suppressed"
        )
        assert.strictEqual(yield* countsOf(["other@people.example"]), "1 email is queued")
      }))

    it.effect("an address suppressed after the batch was accepted is skipped when its turn comes", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { sink } = yield* Relay
        const { key } = yield* makeAccount()
        const slow = Array.from({ length: 400 }, (_, index) => `slow${index}@people.example`)
        yield* add(node, key, "early@people.example")
        const recipients = [...slow, "late@people.example", "early@people.example"]
        const id = yield* sendBulk(node, key, { ...mail, recipients })
        yield* add(node, key, "Late@people.example")
        // Neither has had its turn, so the second was suppressed at acceptance.
        const last = yield* node.request("GET", `/v1/email/batches/${id}/recipients?page=201&per_page=2`, { key })
        assert.deepInclude(last.at("data", 0), { to: "late@people.example", status: "queued" })
        assert.deepInclude(last.at("data", 1), { to: "early@people.example", status: "suppressed" })
        const done = yield* ended(node, key, id)
        assert.deepInclude(done.at("data"), { status: "completed", total: 402, sent: 400, suppressed: 2 })
        const suppressed = yield* node.request("GET", `/v1/email/batches/${id}/recipients?status=suppressed`, { key })
        assert.deepInclude(suppressed.at("data", 0), { to: "late@people.example", attempt_count: 0, sent_at: null })
        assert.isUndefined(sink.attempts.get("late@people.example"))
      }))

    it.effect("an address suppressed between two attempts gets no second attempt", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { sink } = yield* Relay
        const sql = yield* SqlClient.SqlClient
        const { key } = yield* makeAccount()
        const to = "defer-listed@people.example"
        const id = yield* sendBulk(node, key, { ...mail, recipients: [to] })
        yield* asking(
          node.request("GET", `/v1/email/batches/${id}/recipients`, { key }),
          ({ at }) => at("data", 0, "attempt_count") === 1
        )
        yield* add(node, key, to)
        yield* sql`update email_messages set due_at = now() - interval '1 minute' where batch_id = ${id}`
        const done = yield* ended(node, key, id)
        assert.deepInclude(done.at("data"), { status: "failed", total: 1, sent: 0, suppressed: 1 })
        assert.strictEqual(sink.attempts.get(to), 1)
      }))
  })
})

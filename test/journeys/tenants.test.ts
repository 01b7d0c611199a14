import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ended, sendBulk } from "../support/bulkMail.ts"
import { Relay } from "../support/Relay.ts"
import { earlyInTheMinute, eventually, makeAccount, Service } from "../support/Service.ts"
import { reaching, sendEmail } from "../support/singleMail.ts"

const letter = { subject: "Hello", html: "<p>Hello</p>" }

const limits = { env: { EMAIL_QUOTA_STARTER: "2", RATE_LIMIT_STARTER: "4" } }

layer(Relay.layer(limits), { excludeTestServices: true })("what one account does", (it) => {
  it.effect("suppressing an address stops no mail of another account that is waiting for its next attempt", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const [mine, theirs] = [yield* makeAccount(), yield* makeAccount()]
      const [single, bulk] = ["defer-single@people.example", "defer-bulk@people.example"]
      const id = yield* sendEmail(node, mine.key, { ...letter, to: single })
      const batch = yield* sendBulk(node, mine.key, { ...letter, recipients: [bulk] })
      const waiting = sql`select recipient from email_messages
        where account_id = ${mine.accountId} and status = 'queued' and attempt_count = 1`
      yield* eventually(waiting, (rows) => rows.length === 2)
      for (const email of [single, bulk]) {
        const added = yield* node.request("POST", "/v1/email/suppressions", { key: theirs.key, json: { email } })
        assert.strictEqual(added.status, 201, added.text)
      }
      yield* sql`update email_messages set due_at = now() - interval '1 minute' where account_id = ${mine.accountId}`
      const sent = yield* reaching(node, { id, key: mine.key, statuses: ["sent", "suppressed"] })
      assert.strictEqual(sent["status"], "sent")
      assert.deepInclude((yield* ended(node, mine.key, batch)).at("data"), { sent: 1, suppressed: 0 })
    }))

  it.effect("a hard bounce of its mail keeps no mail of another account from the same address", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const [mine, theirs] = [yield* makeAccount(), yield* makeAccount()]
      const to = "bounce-tenants@people.example"
      for (const [index, { key }] of [theirs, mine].entries()) {
        const id = yield* sendEmail(node, key, { ...letter, to })
        const { status } = yield* reaching(node, { id, key, statuses: ["bounced", "suppressed"] })
        assert.deepStrictEqual([status, sink.attempts.get(to)], ["bounced", index + 1])
      }
      const again = yield* sendEmail(node, theirs.key, { ...letter, to })
      yield* reaching(node, { id: again, key: theirs.key, statuses: ["suppressed"] })
    }))

  it.effect("using up its quota or its requests of a minute leaves those of another account untouched", () =>
    Effect.gen(function*() {
      yield* earlyInTheMinute
      const { request } = yield* Service
      const [mine, theirs] = [yield* makeAccount({ plan: "starter" }), yield* makeAccount({ plan: "starter" })]
      const statuses = Effect.fnUntraced(function*(key: string) {
        const send = request("POST", "/v1/email/send", { key, json: { ...letter, to: "quota@people.example" } })
        return (yield* Effect.replicateEffect(send, 5)).map(({ status }) => status)
      })
      const expected = [202, 202, 402, 402, 429]
      assert.deepStrictEqual(yield* statuses(theirs.key), expected)
      assert.deepStrictEqual(yield* statuses(mine.key), expected)
    }))

  it.effect("an Idempotency-Key that it used is new to another account", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const [mine, theirs] = [yield* makeAccount(), yield* makeAccount()]
      const headers = { "idempotency-key": "order-1" }
      const send = (key: string, subject: string) =>
        request("POST", "/v1/email/templates", { key, headers, json: { name: "One", subject, html: "<p>One</p>" } })
      const first = yield* send(theirs.key, "Theirs")
      for (const subject of ["Theirs", "Mine"]) {
        const { accountId, key } = subject === "Mine" ? mine : yield* makeAccount()
        const answer = yield* send(key, subject)
        assert.deepStrictEqual(
          [answer.status, answer.headers["idempotency-replayed"]],
          [201, undefined],
          `${accountId}`
        )
        assert.strictEqual(answer.at("data", "subject"), subject)
        assert.notStrictEqual(answer.at("data", "id"), first.at("data", "id"))
      }
    }))
})

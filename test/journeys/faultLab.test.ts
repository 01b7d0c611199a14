/** The fault lab: faults that an account plans for the next messages of its test keys. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventually, makeAccount, makeKey, Service } from "../support/Service.ts"
import { longer } from "../support/waiting.ts"
import { createSession } from "../support/WhatsApp.ts"

const path = "/v1/sandbox/faults"

/** An account with a live and a test key. */
const makePair = Effect.fnUntraced(function*() {
  const { accountId, key: live } = yield* makeAccount()
  const { key: test } = yield* makeKey(accountId, { mode: "test" })
  return { accountId, live, test }
})

const plan = Effect.fnUntraced(function*(key: string, ...faults: ReadonlyArray<string>) {
  const { request } = yield* Service
  for (const fault of faults) {
    const { status, text } = yield* request("POST", path, { key, json: { fault } })
    assert.strictEqual(status, 201, text)
  }
})

/** The names of the planned faults. */
const planned = Effect.fnUntraced(function*(key: string) {
  const { request } = yield* Service
  const { at } = yield* request("GET", path, { key })
  return (at("data") as ReadonlyArray<{ readonly fault: string }>).map(({ fault }) => fault) // by the contract
})

/** Sends a message, and returns the path of its record. */
const send = Effect.fnUntraced(function*(key: string, channel: "email" | "sms" | "whatsapp", json: object) {
  const { request } = yield* Service
  const { at, status, text } = yield* request("POST", `/v1/${channel}/send`, { key, json })
  assert.strictEqual(status, 202, text)
  return `/v1/${channel}/messages/${String(at("data", "message_id") ?? at("data", "id"))}`
})

const mail = (key: string, to = "ada@example.com") => send(key, "email", { to, subject: "Hello", text: "Hello" })

const sms = (key: string, content = "Hello") => send(key, "sms", { to: "+250788123456", content })

/** A record that has come to one of the statuses. */
const reaching = Effect.fnUntraced(function*(record: string, key: string, ...statuses: ReadonlyArray<string>) {
  const { request } = yield* Service
  return yield* eventually(
    request("GET", record, { key }),
    ({ at }) => statuses.includes(String(at("data", "status")))
  )
})

/** What the sandbox received on a channel. */
const received = Effect.fnUntraced(function*(key: string, channel: string) {
  const { request } = yield* Service
  const { at } = yield* request("GET", `/v1/sandbox/messages?channel=${channel}`, { key })
  return (at("data") as ReadonlyArray<{ readonly text: string }>).map(({ text }) => text.trim()) // by the contract
})

/** A mail whose first attempt fails for now: it waits for its retry, which this brings forward, and arrives once. */
const arrivesWithRetry = Effect.fnUntraced(function*(fault: string, outcome: string) {
  const { request } = yield* Service
  const sql = yield* SqlClient.SqlClient
  const { test } = yield* makePair()
  yield* plan(test, fault)
  const record = yield* mail(test)
  yield* eventually(
    request("GET", record, { key: test }),
    ({ at }) => at("data", "status") === "queued" && String(at("data", "error")).includes("planned fault")
  )
  assert.deepStrictEqual(yield* planned(test), [])
  assert.deepStrictEqual(yield* received(test, "email"), [])
  yield* reaching(yield* mail(test, "eve@example.com"), test, "sent")
  yield* sql`update email_messages set due_at = now() where id = ${Number(record.split("/").at(-1))}`
  yield* reaching(record, test, "sent")
  const timeline = yield* request("GET", `${record}/timeline`, { key: test })
  assert.include(timeline.text, outcome)
  assert.strictEqual((yield* received(test, "email")).length, 2)
})

layer(Service.layer(), { excludeTestServices: true })("the fault lab", (it) => {
  it.effect("a planned bounce refuses the next mail alone, and the same address gets the mail after it", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { test } = yield* makePair()
      yield* plan(test, "email_bounce")
      yield* reaching(yield* sms(test), test, "delivered")
      const bounced = yield* reaching(yield* mail(test), test, "bounced", "sent")
      assert.deepInclude(bounced.at("data"), {
        status: "bounced",
        bounce_type: "hard",
        error: "550 5.7.1 Refused by a planned fault"
      })
      assert.deepStrictEqual(yield* planned(test), [])
      assert.deepStrictEqual((yield* request("GET", "/v1/email/suppressions", { key: test })).at("data"), [])
      yield* reaching(yield* mail(test), test, "sent")
      assert.strictEqual((yield* received(test, "email")).length, 1)
    }))

  it.effect("a deferred mail waits, and arrives with its retry", () => arrivesWithRetry("email_defer", "deferred"))

  it.effect("a mail on which the relay hangs up is unconfirmed, and arrives once, with its retry", () =>
    arrivesWithRetry("email_hang_up", "unconfirmed"))

  it.effect("a lost SMS stays sent and reaches no phone, also one of several parts, and the next one is delivered", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { test } = yield* makePair()
      yield* plan(test, "sms_lost")
      yield* reaching(yield* mail(test), test, "sent")
      const lost = yield* sms(test, "first")
      yield* reaching(lost, test, "sent")
      yield* reaching(yield* sms(test, "second"), test, "delivered")
      yield* plan(test, "sms_lost", "sms_lost")
      const long = yield* sms(test, "third ".repeat(60))
      yield* reaching(long, test, "sent")
      assert.deepStrictEqual(yield* planned(test), ["sms_lost"])
      yield* request("DELETE", path, { key: test })
      yield* reaching(yield* sms(test, "fourth"), test, "delivered")
      for (const record of [lost, long]) {
        assert.strictEqual((yield* request("GET", record, { key: test })).at("data", "status"), "sent")
      }
      assert.deepStrictEqual(yield* received(test, "sms"), ["fourth", "second"])
    }))

  it.effect("a WhatsApp message to a phone that is offline stays sent, and the next one is read", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { request } = node
      const { test } = yield* makePair()
      const { id: session_id } = yield* createSession(node, test, "Shop")
      yield* eventually(
        request("GET", `/v1/whatsapp/sessions/${session_id}`, { key: test }),
        ({ at }) => at("status") === "connected"
      )
      const text = (body: string) => send(test, "whatsapp", { session_id, to: "+15550100301", content: body })
      yield* plan(test, "whatsapp_offline")
      const offline = yield* text("first")
      yield* reaching(offline, test, "sent")
      yield* reaching(yield* text("second"), test, "read")
      assert.strictEqual((yield* request("GET", offline, { key: test })).at("data", "status"), "sent")
      assert.deepStrictEqual(yield* received(test, "whatsapp"), ["second"])
      assert.deepStrictEqual(yield* planned(test), [])
    }))

  it.effect("a fault touches neither the mail and SMS of another account nor those of the account's live keys", () =>
    Effect.gen(function*() {
      const [mine, theirs] = [yield* makePair(), yield* makePair()]
      yield* plan(mine.test, "email_bounce", "sms_lost")
      for (const key of [mine.live, theirs.live, theirs.test]) {
        yield* reaching(yield* mail(key), key, "sent")
        yield* reaching(yield* sms(key), key, "delivered")
      }
      assert.deepStrictEqual(yield* planned(theirs.test), [])
      assert.deepStrictEqual(yield* planned(mine.test), ["email_bounce", "sms_lost"])
      yield* reaching(yield* mail(mine.test), mine.test, "bounced")
    }))

  it.effect("many mails at once use one fault once", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { test } = yield* makePair()
      yield* plan(test, "email_bounce", "email_bounce")
      const recipients = Array.from({ length: 30 }, (_, index) => `r${index}@example.com`)
      const json = { subject: "Hello", html: "<p>Hello</p>", recipients }
      const [batch] = yield* Effect.all([
        request("POST", "/v1/email/send-bulk", { key: test, json }),
        Effect.forEach([1, 2, 3, 4], () => mail(test), { concurrency: "unbounded" })
      ], { concurrency: "unbounded" })
      yield* reaching(`/v1/email/batches/${String(batch.at("data", "batch_id"))}`, test, "completed")
      const list = yield* eventually(
        request("GET", "/v1/email/messages?per_page=100", { key: test }),
        ({ text }) => !/"status":"(queued|sending)"/.test(text)
      )
      const rows = list.at("data") as ReadonlyArray<{ readonly status: string }> // by the contract
      assert.strictEqual(rows.filter(({ status }) => status === "bounced").length, 2)
      assert.strictEqual(rows.filter(({ status }) => status === "sent").length, 32)
    }))

  it.effect("faults are listed oldest first, limited, cleared, for test keys alone, and erased with the account", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, live, test } = yield* makePair()
      const made = yield* request("POST", path, { key: test, json: { fault: "email_defer" } })
      assert.strictEqual(made.headers["location"], path)
      yield* plan(test, ...Array.from({ length: 19 }, () => "sms_lost"))
      const refused = yield* request("POST", path, { key: test, json: { fault: "sms_lost" } })
      assert.strictEqual(refused.status, 409)
      assert.deepInclude(refused.at("error"), { type: "fault_limit", limit: 20 })
      assert.deepStrictEqual((yield* planned(test)).slice(0, 2), ["email_defer", "sms_lost"])
      assert.strictEqual((yield* request("POST", path, { key: test, json: { fault: "fire" } })).status, 422)
      for (const method of ["GET", "POST", "DELETE"] as const) {
        const answer = yield* request(method, path, {
          key: live,
          ...(method === "POST" && { json: { fault: "sms_lost" } })
        })
        assert.strictEqual(answer.at("error", "type"), "test_key_required")
      }
      assert.strictEqual((yield* request("DELETE", path, { key: test })).at("data", "deleted"), 20)
      assert.deepStrictEqual(yield* planned(test), [])
      yield* plan(test, "email_defer")
      const gone = yield* request("DELETE", "/v1/account", { key: live, json: { confirmation: "DELETE" } })
      assert.strictEqual(gone.status, 200, gone.text)
      yield* eventually(
        sql`select from sandbox_faults where account_id = ${-accountId}`,
        (rows) => rows.length === 0,
        longer.turn
      )
    }))
})

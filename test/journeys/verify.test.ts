import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { checkCode, codeFor, sendCode, textsFor, wrong } from "../support/codes.ts"
import { eventually, makeAccount, Service } from "../support/Service.ts"
import { makeListener } from "../support/singleMail.ts"
import { freshNumber, phoneOf } from "../support/sms.ts"
import { longer } from "../support/waiting.ts"
import { createSession, pairedSession, untilConnected, WhatsApp } from "../support/WhatsApp.ts"
import { accepted, unpaced, untilArrived, untilMessage } from "../support/whatsAppMessages.ts"

let serial = 0
const freshAddress = () => `person${serial++}@people.example`

/** Why it is refused, the body, the parameter named, and part of the message. */
const refused: ReadonlyArray<readonly [what: string, body: Record<string, unknown>, param: string, says: RegExp]> = [
  ["no recipient", { to: undefined }, "to", /is required/],
  ["text instead of a number", { to: "call me" }, "to", /begin with the country code/],
  ["an impossible number", { to: "+1234567890" }, "to", /not a possible number/],
  ["a numeric recipient", { to: 250788123456 }, "to", /must be a string/],
  ["an invalid address", { to: "a@b@c", channel: "email" }, "to", /more than one @/],
  ["a number by email", { to: "+250788123456", channel: "email" }, "to", /must be an email address/],
  ["an address by SMS", { to: "ada@example.com" }, "to", /must be a phone number/],
  ["an address by WhatsApp", { to: "ada@example.com", channel: "whatsapp" }, "to", /must be a phone number/],
  ["a premium number", { to: "+19002345678" }, "to", /receives no codes/],
  ["an unknown channel", { channel: "voice" }, "channel", /./],
  ["3 digits", { length: 3 }, "length", /from 4 to 8/],
  ["9 digits", { length: 9 }, "length", /from 4 to 8/],
  ["a fraction as length", { length: 4.5 }, "length", /./],
  ["a lifetime of 59 seconds", { ttl: 59 }, "ttl", /from 60 to 600/],
  ["a lifetime of 601 seconds", { ttl: 601 }, "ttl", /from 60 to 600/],
  ["a brand of 31 letters", { brand_name: "a".repeat(31) }, "brand_name", /at most 30/],
  ["a brand with a star", { brand_name: "A*" }, "brand_name", /star/],
  ["a brand of two lines", { brand_name: "A\nB" }, "brand_name", /line breaks/],
  ["an unsupported locale", { locale: "tlh" }, "locale", /./],
  ["a domain that is a URL", { domain: "https://example.com" }, "domain", /./],
  ["an invalid client_ip", { client_ip: "1.2.3.256" }, "client_ip", /IP/]
]

layer(Service.layer({ env: { OTP_RESEND_SECONDS: "0", SANDBOX_SMS_DELAY_MS: "50" } }), {
  excludeTestServices: true
})("one-time codes", (it) => {
  for (const channel of ["email", "sms"] as const) {
    it.effect(`a code by ${channel} is valid once, and verify.completed is published`, () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key, received } = yield* makeListener(node, ["verify.*"])
        const to = channel === "email" ? freshAddress() : freshNumber()
        const { answer, id } = yield* sendCode(node, { key, json: { to, channel, brand_name: "Acme" } })
        assert.strictEqual(answer.headers["location"], `/v1/verify/status/${id}`)
        assert.deepInclude(answer.at("data"), { id, to, channel, status: "pending" })
        assert.sameMembers(Object.keys(Object(answer.at("data"))), [
          "id",
          "to",
          "channel",
          "status",
          "expires_at",
          "created_at"
        ])
        const [text = ""] = yield* textsFor(node, to)
        const code = /\d{6}/.exec(text)?.[0] ?? ""
        assert.strictEqual(
          text.trim(),
          `Acme: Your code is ${code}. It is valid for ${
            channel === "email" ? 5 : 5
          } minutes. Do not give it to anybody.`
        )
        const missed = yield* checkCode(node, { key, json: { id, code: wrong(code) } })
        assert.deepStrictEqual(missed.json, { success: true, data: { id, valid: false, attempts_remaining: 4 } })
        const right = yield* checkCode(node, { key, json: { id, code } })
        assert.deepInclude(right.at("data"), { id, valid: true })
        assertRefused(yield* checkCode(node, { key, json: { id, code } }), 404, "verification_not_found")
        const read = yield* node.request("GET", `/v1/verify/status/${id}`, { key })
        assert.deepInclude(read.at("data"), { id, to, channel, status: "approved", attempts_remaining: 4 })
        const [event] = yield* received(1)
        assert.strictEqual(event?.event, "verify.completed")
        const verified_at = right.at("data", "verified_at")
        assert.deepStrictEqual(event?.data, { verification_id: id, to, channel, verified_at })
      }))
  }

  it.effect("the list has every verification with the status of this moment, by its filters, and never a code", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      const [number, address, late] = [freshNumber(), freshAddress(), freshAddress()]
      const ids: Array<string> = []
      for (const json of [{ to: number }, { to: address, channel: "email" }, { to: late, channel: "email" }]) {
        ids.push((yield* sendCode(node, { key, json })).id)
      }
      const [first = "", second = "", third = ""] = ids
      const code = yield* codeFor(node, address)
      yield* checkCode(node, { key, json: { id: second, code } })
      // Its end is not recorded yet.
      yield* sql`update verifications set expires_at = now() - interval '1 millisecond', ended_at = now() where id = ${third}`
      const listed = (query: string) =>
        Effect.map(node.request("GET", `/v1/verify/status${query}`, { key }), (answer) => {
          assert.strictEqual(answer.status, 200, answer.text)
          assert.notInclude(answer.text, code)
          return (answer.at("data") as ReadonlyArray<{ readonly id: string }>).map(({ id }) => id)
        })
      assert.deepStrictEqual(yield* listed(""), [third, second, first])
      assert.deepStrictEqual(yield* listed("?status=approved"), [second])
      assert.deepStrictEqual(yield* listed("?status=expired"), [third])
      assert.deepStrictEqual(yield* listed("?status=pending"), [first])
      assert.deepStrictEqual(yield* listed("?channel=email"), [third, second])
      assert.deepStrictEqual(yield* listed(`?to=${encodeURIComponent(address.toUpperCase())}`), [second])
      assert.deepStrictEqual(yield* listed("?to_date=2026-01-01T00:00:00Z"), [])
      const all = yield* node.request("GET", "/v1/verify/status?per_page=1", { key })
      assert.strictEqual(all.at("meta", "total"), 3)
      const { json: one } = yield* node.request("GET", `/v1/verify/status/${third}`, { key })
      assert.deepStrictEqual(all.at("data", 0), Object(one).data)
    }))

  it.effect("only the recipient sees the code: no table, list, event, answer or log contains it", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key, received } = yield* makeListener(node, ["*"])
      const codes: Array<string> = []
      const answers: Array<string> = []
      for (const to of [freshAddress(), freshNumber()]) {
        const json = {
          to,
          channel: "auto",
          length: 8,
          domain: "shop.example",
          locale: "ar",
          brand_name: "Boutique Ünïcode é"
        }
        const headers = { "idempotency-key": `send ${to}`.replaceAll(" ", "-") }
        const sent = yield* node.request("POST", "/v1/verify/send", { key, json, headers })
        assert.strictEqual(sent.status, 201, sent.text)
        const again = yield* node.request("POST", "/v1/verify/send", { key, json, headers })
        assert.deepStrictEqual([again.text, again.headers["idempotency-replayed"]], [sent.text, "true"])
        const [text = ""] = yield* textsFor(node, to)
        const code = /\d{8}/.exec(text)?.[0] ?? "?"
        if (!to.includes("@")) assert.isTrue(text.endsWith(`\n\n@shop.example #${code}`), text)
        assert.notInclude(text, "*")
        codes.push(code)
        answers.push(sent.text)
      }
      yield* received(2)
      const events = yield* received(2)
      for (const path of ["/v1/sms/messages", "/v1/email/messages", "/v1/email/history"]) {
        const list = yield* node.request("GET", path, { key })
        assert.isAbove(Number(list.at("meta", "total")), 0)
        answers.push(list.text)
      }
      const list = yield* node.request("GET", "/v1/sms/messages", { key })
      assert.include(String(list.at("data", 0, "content", "body")), "********")
      const tables = yield* sql`select table_name as name from information_schema.tables
        where table_schema = current_schema() and table_name not like 'sandbox%'`
      for (const { name } of tables) {
        answers.push(JSON.stringify(yield* sql`select t::text from ${sql(String(name))} t`))
      }
      for (const [table, column] of [["email_parts", "content"], ["events", "body"]] as const) {
        answers.push(JSON.stringify(yield* sql`select convert_from(${sql(column)}, 'UTF8') as text from ${sql(table)}`))
      }
      const everywhere = [...answers, JSON.stringify(events), ...node.logs].join("\n")
      for (const code of codes) assert.notInclude(everywhere, code)
    }))

  it.effect("a code by email has text and HTML in the requested language", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const to = freshAddress()
      yield* sendCode(node, { key, json: { to, channel: "email", locale: "ar", brand_name: "{{x}} <b>" } })
      const code = yield* codeFor(node, to)
      const headers = { accept: "application/json" }
      const list = yield* node.request("GET", `/sandbox/mail?to=${to}`, { headers })
      const mail = yield* node.request("GET", `/sandbox/mail/${list.at("data", 0, "id")}`, { headers })
      assert.strictEqual(mail.at("data", "subject"), "{{x}} <b>: رمز التحقق")
      assert.match(
        String(mail.at("data", "html")),
        new RegExp(`^<p dir="rtl" lang="ar"[^>]*>{{x}} &lt;b&gt;: .*${code}`)
      )
    }))

  it.effect("a code can be checked by its recipient in any spelling", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      yield* sendCode(node, { key, json: { to: "Mixed.Case@People.Example", channel: "email" } })
      const code = yield* codeFor(node, "Mixed.Case@people.example")
      const checked = yield* checkCode(node, { key, json: { to: "mixed.case@PEOPLE.example", code } })
      assert.strictEqual(checked.at("data", "valid"), true, checked.text)
      const number = "+250 788-999-001"
      yield* sendCode(node, { key, json: { to: "250788999001" } })
      const texted = yield* codeFor(node, "+250788999001")
      assert.strictEqual(
        (yield* checkCode(node, { key, json: { to: number, code: texted } })).at("data", "valid"),
        true
      )
    }))

  for (const [what, body, param, says] of refused) {
    it.effect(`a request with ${what} is refused with 422, and nothing is sent`, () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount()
        const answer = yield* node.request("POST", "/v1/verify/send", { key, json: { to: "+250788123456", ...body } })
        assertRefused(answer, 422, "validation_error")
        assert.strictEqual(answer.at("error", "param"), param, answer.text)
        assert.match(String(answer.at("error", "errors", 0, "message")), says)
        assert.deepStrictEqual(yield* sql`select id from verifications where account_id = ${accountId}`, [])
      }))
  }

  it.effect("of a hundred concurrent wrong guesses only five are checked", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const to = freshAddress()
      const { id } = yield* sendCode(node, { key, json: { to, channel: "email" } })
      const code = yield* codeFor(node, to)
      const guesses = Array.from({ length: 100 }, (_, index) => String(index).padStart(6, "0")).filter((each) =>
        each !== code
      )
      const answers = yield* Effect.forEach(
        guesses,
        (each) => checkCode(node, { key, json: { id, code: each } }),
        { concurrency: "unbounded" }
      )
      const checked = answers.filter(({ status }) => status === 200)
      const left = checked.map(({ at }) => Number(at("data", "attempts_remaining"))).toSorted()
      assert.deepStrictEqual(left, [0, 1, 2, 3, 4])
      for (const answer of answers.filter(({ status }) => status !== 200)) {
        assertRefused(answer, 429, "max_attempts_exceeded")
      }
      assertRefused(yield* checkCode(node, { key, json: { id, code } }), 429, "max_attempts_exceeded")
      const read = yield* node.request("GET", `/v1/verify/status/${id}`, { key })
      assert.deepInclude(read.at("data"), { status: "max_attempts", attempts_remaining: 0 })
    }))

  it.effect("of a hundred concurrent correct checks one succeeds, and one event is published", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key, received } = yield* makeListener(node, ["verify.*"])
      const to = freshNumber()
      const { id } = yield* sendCode(node, { key, json: { to } })
      const code = yield* codeFor(node, to)
      const answers = yield* Effect.forEach(
        Array.from({ length: 100 }),
        () => checkCode(node, { key, json: { id, code } }),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(answers.filter(({ at }) => at("data", "valid") === true).length, 1)
      for (const answer of answers.filter(({ status }) => status !== 200)) {
        assertRefused(answer, 404, "verification_not_found")
      }
      assert.deepStrictEqual((yield* received(1)).map(({ event }) => event), ["verify.completed"])
    }))

  it.effect("a new code replaces the pending one under the same id and keeps its wrong guesses", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const to = freshAddress()
      const first = yield* sendCode(node, { key, json: { to, channel: "email", length: 8 } })
      const old = yield* codeFor(node, to)
      yield* checkCode(node, { key, json: { to, code: wrong(old) } })
      const second = yield* sendCode(node, { key, json: { to, channel: "email", length: 8 } })
      assert.strictEqual(second.id, first.id)
      const code = yield* codeFor(node, to, 2)
      assert.notStrictEqual(code, old)
      const missed = yield* checkCode(node, { key, json: { to, code: old } })
      assert.deepInclude(missed.at("data"), { valid: false, attempts_remaining: 3 })
      assert.strictEqual((yield* checkCode(node, { key, json: { to, code } })).at("data", "valid"), true)
      const third = yield* sendCode(node, { key, json: { to, channel: "email" } })
      assert.notStrictEqual(third.id, first.id)
    }))

  it.effect("a request in the last minute of a verification's 20 begins a new one, whose code is valid as long as it says", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key, received } = yield* makeListener(node, ["verify.*"])
      const to = freshNumber()
      const sent = sendCode(node, { key, json: { to, ttl: 600 } })
      const { id } = yield* sent
      const age = (seconds: number) =>
        sql`update verifications set created_at = now() - ${seconds}::integer * interval '1 second' where id = ${id}`
      yield* age(17 * 60 + 30)
      assert.strictEqual((yield* sent).id, id)
      assert.include((yield* textsFor(node, to, 2))[0], "valid for 2 minutes")
      yield* age(19 * 60 + 30)
      yield* sql`update verifications set expires_at = created_at + interval '20 minutes' where id = ${id}`
      const next = yield* sent
      assert.notStrictEqual(next.id, id)
      assert.include((yield* textsFor(node, to, 3))[0], "valid for 10 minutes")
      const [event] = yield* received(1)
      assert.deepInclude(event, { event: "verify.expired" })
      assert.deepInclude(event?.data, { verification_id: id })
    }))

  it.effect("an expired code is refused with 410, and verify.expired is published once", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key, received } = yield* makeListener(node, ["verify.*"])
      const to = freshAddress()
      const { id } = yield* sendCode(node, { key, json: { to, channel: "email", ttl: 60 } })
      const code = yield* codeFor(node, to)
      yield* sql`update verifications set expires_at = now() where id = ${id}`
      assertRefused(yield* checkCode(node, { key, json: { id, code } }), 410, "verification_expired")
      assert.strictEqual(
        (yield* node.request("GET", `/v1/verify/status/${id}`, { key })).at("data", "status"),
        "expired"
      )
      const [event] = yield* received(1)
      assert.strictEqual(event?.event, "verify.expired")
      assert.deepInclude(event?.data, { verification_id: id, to, channel: "email" })
      assertRefused(yield* checkCode(node, { key, json: { to, code } }), 410, "verification_expired")
      const next = yield* sendCode(node, { key, json: { to, channel: "email" } })
      assert.notStrictEqual(next.id, id)
    }))

  it.effect("another account's code cannot be checked by id or recipient", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const [own, other] = [yield* makeAccount(), yield* makeAccount()]
      const to = freshAddress()
      const { id } = yield* sendCode(node, { key: other.key, json: { to, channel: "email" } })
      const code = yield* codeFor(node, to)
      for (const named of [{ id }, { to }, { id: "ver_nothing" }]) {
        assertRefused(yield* checkCode(node, { key: own.key, json: { ...named, code } }), 404, "verification_not_found")
      }
      const left = yield* node.request("GET", `/v1/verify/status/${id}`, { key: other.key })
      assert.strictEqual(left.at("data", "attempts_remaining"), 5)
    }))

  it.effect("a check by id and recipient confirms the code of this recipient alone, and costs another one no attempt", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const to = freshAddress()
      const { id } = yield* sendCode(node, { key, json: { to, channel: "email" } })
      const code = yield* codeFor(node, to)
      const foreign = yield* checkCode(node, { key, json: { id, to: freshAddress(), code } })
      assertRefused(foreign, 404, "verification_not_found")
      const left = yield* node.request("GET", `/v1/verify/status/${id}`, { key })
      assert.strictEqual(left.at("data", "attempts_remaining"), 5)
      const own = yield* checkCode(node, { key, json: { id, to: to.toUpperCase(), code } })
      assert.deepInclude(own.at("data"), { id, valid: true })
    }))

  it.effect("a code for an email address without a channel is refused with the channels that it may name", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const answer = yield* node.request("POST", "/v1/verify/send", { key, json: { to: freshAddress() } })
      assertRefused(answer, 422, "validation_error")
      assert.match(
        String(answer.at("error", "message")),
        /^to: .* because channel is sms unless you give email or auto/
      )
    }))

  it.effect("a malformed check is refused with 422, naming the field", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const cases = [
        [{ id: "ver_x" }, "code", /is required/],
        [{ id: "ver_x", code: 123456 }, "code", /must be a string/],
        [{ id: "ver_x", code: "12a456" }, "code", /4 to 8 digits/],
        [{ id: "ver_x", code: "123" }, "code", /4 to 8 digits/],
        [{ id: "ver_x", code: "١٢٣٤٥٦" }, "code", /4 to 8 digits/],
        [{ code: "123456" }, "id", /is required unless to/]
      ] as const
      for (const [json, param, says] of cases) {
        const answer = yield* checkCode(node, { key, json })
        assertRefused(answer, 422, "validation_error")
        assert.strictEqual(answer.at("error", "param"), param, answer.text)
        assert.match(String(answer.at("error", "message")), says)
      }
    }))

  it.effect("no code goes to a suppressed address or to a number without an SMS price", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const to = freshAddress()
      yield* node.request("POST", "/v1/email/suppressions", { key, json: { email: to } })
      const gone = yield* node.request("POST", "/v1/verify/send", { key, json: { to, channel: "email" } })
      assertRefused(gone, 422, "validation_error")
      assert.strictEqual(gone.at("error", "errors", 0, "type"), "suppressed")
      const satellite = yield* node.request("POST", "/v1/verify/send", { key, json: { to: "+870773111632" } })
      assertRefused(satellite, 422, "unsupported_destination")
    }))

  it.effect("channel auto uses SMS when WhatsApp is unavailable, and channel whatsapp gets 503", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const to = freshNumber()
      const only = yield* node.request("POST", "/v1/verify/send", { key, json: { to, channel: "whatsapp" } })
      assertRefused(only, 503, "channel_unavailable")
      assert.strictEqual(only.at("error", "channel"), "whatsapp")
      const { answer } = yield* sendCode(node, { key, json: { to, channel: "auto" } })
      assert.strictEqual(answer.at("data", "channel"), "sms")
      yield* codeFor(node, to)
    }))

  it.effect("when a message fails, a new code goes out by the next channel", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      const to = "+15005550002"
      const { id } = yield* sendCode(node, { key, json: { to } })
      const [first = ""] = yield* textsFor(node, to)
      yield* sql`update verifications set channels_left = '{whatsapp,sms}' where id = ${id}`
      const texts = yield* textsFor(node, to, 2)
      assert.notStrictEqual(texts[0], first)
      const code = /\d{6}/.exec(texts[0] ?? "")?.[0] ?? ""
      assert.strictEqual((yield* checkCode(node, { key, json: { id, code } })).at("data", "valid"), true)
    }))

  it.effect("a failed message has its next channel soon, also while more codes wait than one statement reads", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      yield* sql`insert into verifications (id, account_id, recipient, channel, status, code_seed, channels_left, locale,
          expires_at)
        select 'ver_' || lpad(n::text, 26, '0'), ${accountId}, n || '@example.com', 'email', 'pending',
          '6.' || repeat('x', 22) || '.0', '{sms}', 'en', now() + interval '10 minutes'
        from generate_series(100000, 101000) as n`
      const to = "+15005550002"
      const before = (yield* phoneOf(node, to)).length
      const { id } = yield* sendCode(node, { key, json: { to } })
      yield* textsFor(node, to, before + 1)
      yield* sql`update verifications set channels_left = '{sms}' where id = ${id}`
      yield* textsFor(node, to, before + 2)
      yield* sql`delete from verifications where account_id = ${accountId}`
    }))

  it.effect("when a message has not arrived within a minute, or a third of its life, the same code goes out by the next channel", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const to = "+15005550003"
      const codeOf = (text = "") => /\d{6}/.exec(text)?.[0] ?? ""
      const messages = (id: string) =>
        sql<{ count: number }>`select jsonb_array_length(messages) as count from verifications where id = ${id}`
      for (const [ttl, seconds] of [[300, 60], [60, 20]] as const) {
        const sent = Effect.fnUntraced(function*(age: number) {
          const { key } = yield* makeAccount()
          const before = (yield* phoneOf(node, to)).length
          const { id } = yield* sendCode(node, { key, json: { to, ttl } })
          const [text] = yield* textsFor(node, to, before + 1)
          yield* sql`update verifications set channels_left = '{whatsapp,sms}', handed_at = now() - ${age}::integer
            * interval '1 second', expires_at = now() + ${ttl - age}::integer * interval '1 second' where id = ${id}`
          return { code: codeOf(text), id, key }
        })
        const early = yield* sent(seconds - 10)
        const late = yield* sent(seconds + 1)
        yield* eventually(messages(late.id), ([row]) => row?.count === 2)
        // The task reads the verifications in the order of their ids. On a slow machine the time of this one is over, too.
        const [other] = yield* sql`select handed_at < now() - ${seconds}::integer * interval '1 second'
            or jsonb_array_length(messages) = 1 as is_right from verifications where id = ${early.id}`
        assert.strictEqual(other?.["is_right"], true)
        yield* sql`update verifications set channels_left = '{}' where id = ${early.id}`
        const [again] = yield* eventually(
          Effect.map(textsFor(node, to), (texts) => texts.filter((text) => codeOf(text) === late.code)),
          ({ length }) => length === 2
        )
        assert.match(again ?? "", ttl === 60 ? /valid for \d\d seconds/ : /valid for 3 minutes/)
        const { code, id, key } = late
        assert.strictEqual((yield* checkCode(node, { key, json: { id, code } })).at("data", "valid"), true)
      }
    }))
})

/** The statuses of a verification's messages by SMS and WhatsApp, in the order of their sending. */
const messageStatuses = Effect.fnUntraced(function*(id: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`select m.status
    from verifications v, jsonb_array_elements(v.messages) with ordinality as sent (message, nth)
    join messages m on m.id = (message ->> 'id')::bigint where v.id = ${id} order by nth`
  return rows.map(({ status }) => status)
})

layer(Service.layer({ env: { SMS_PROVIDER: "smpp", SMPP_URL: "smpp://user:secret@127.0.0.1:9" } }), {
  excludeTestServices: true
})("one-time codes of a node without a connection to its carrier", (it) => {
  it.effect("a late message that still waits is canceled when the next channel gets the code, and not if none takes it", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      const lateBy = Effect.fnUntraced(function*(next: string) {
        const { id } = yield* sendCode(node, { key, json: { to: freshNumber() } })
        yield* sql`update verifications set channels_left = ${next}::text::text[],
          handed_at = now() - interval '61 seconds' where id = ${id}`
        return id
      })
      const refusedByAll = yield* lateBy("{whatsapp}")
      const taken = yield* lateBy("{whatsapp,sms}")
      yield* eventually(messageStatuses(taken), (found) => found.length === 2)
      assert.deepStrictEqual(yield* messageStatuses(taken), ["canceled", "queued"])
      // The task reads the verifications in the order of their ids.
      assert.deepStrictEqual(yield* messageStatuses(refusedByAll), ["queued"])
    }))
})

layer(WhatsApp.layer({ env: { WHATSAPP_PER_MINUTE: "1" } }), { excludeTestServices: true })(
  "one-time codes of a WhatsApp session that has sent all that it may",
  (it) => {
    it.effect("a late code that waits for its session is canceled, and goes by SMS", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { phone } = yield* WhatsApp
        const { key } = yield* makeAccount()
        const session = yield* pairedSession(node, key)
        const to = `+${yield* phone}`
        const text = { session_id: session.id, to, type: "text", content: { body: "Hello" } }
        const message = yield* accepted(node, key, text)
        yield* untilMessage(node, key, message, "read")
        const { answer, id } = yield* sendCode(node, { key, json: { to, channel: "auto" } })
        assert.strictEqual(answer.at("data", "channel"), "whatsapp")
        yield* sql`update verifications set handed_at = now() - interval '61 seconds' where id = ${id}`
        yield* eventually(messageStatuses(id), ({ length }) => length === 2)
        assert.strictEqual((yield* messageStatuses(id))[0], "canceled")
        assert.deepStrictEqual(yield* sql`select channel from verifications where id = ${id}`, [{ channel: "sms" }])
      }))
  }
)

layer(WhatsApp.layer({ env: { ...unpaced, OTP_RESEND_SECONDS: "0", SANDBOX_SMS_DELAY_MS: "50" } }), {
  excludeTestServices: true
})("one-time codes by WhatsApp", (it) => {
  const scene = Effect.gen(function*() {
    const node = yield* Service
    const { phone } = yield* WhatsApp
    const { key } = yield* makeAccount()
    return { node, key, session: yield* pairedSession(node, key), phone: yield* phone }
  })

  it.effect("a code reaches the phone, is valid, and is in no table, list or log", () =>
    Effect.gen(function*() {
      const { key, node, phone, session } = yield* scene
      const sql = yield* SqlClient.SqlClient
      const json = { to: `+${phone}`, channel: "whatsapp", length: 8, brand_name: "Acme" }
      const { answer, id } = yield* sendCode(node, { key, json })
      assert.strictEqual(answer.at("data", "channel"), "whatsapp")
      const [arrived] = yield* untilArrived(phone, session.number, 1)
      const code = /\d{8}/.exec(arrived?.text ?? "")?.[0] ?? "?"
      assert.strictEqual(
        arrived?.text,
        `Acme: Your code is ${code}. It is valid for 5 minutes. Do not give it to anybody.`
      )
      const list = yield* eventually(
        node.request("GET", "/v1/whatsapp/messages?status=read", { key }),
        ({ at }) => at("data", 0) !== undefined
      )
      assert.include(String(list.at("data", 0, "content", "body")), "Your code is ********.")
      const tables = yield* sql`select table_name as name from information_schema.tables
        where table_schema = current_schema() and table_name not like 'sandbox%'`
      const rows = yield* Effect.forEach(tables, ({ name }) => sql`select t::text from ${sql(String(name))} t`)
      const everywhere = [JSON.stringify(rows), answer.text, list.text, ...node.logs].join("\n")
      assert.notInclude(everywhere, code)
      assert.notInclude(everywhere, Buffer.from(code).toString("hex"))
      const kept = Buffer.from("********").toString("hex")
      const bodies = yield* sql`select encode(body, 'hex') as hex from whatsapp_outbox`
      assert.isTrue(bodies.some(({ hex }) => String(hex).includes(kept)))
      assert.strictEqual((yield* checkCode(node, { key, json: { id, code } })).at("data", "valid"), true)
    }))

  it.effect("a second session of the sending phone does not store its copy of the code", () =>
    Effect.gen(function*() {
      const { key, node, phone, session } = yield* scene
      const sql = yield* SqlClient.SqlClient
      const { simulator: { controls } } = yield* WhatsApp
      const other = yield* createSession(node, key)
      controls.scan(other.qr, session.number)
      yield* untilConnected(node, key, other.id, (qr) => Effect.sync(() => controls.scan(qr, session.number)))
      const json = { to: `+${phone}`, channel: "whatsapp", length: 8, session_id: session.id }
      yield* sendCode(node, { key, json })
      const [arrived] = yield* untilArrived(phone, session.number, 1)
      const code = /\d{8}/.exec(arrived?.text ?? "")?.[0] ?? "?"
      // The later message has arrived, so the copy was processed.
      yield* Effect.promise(() => controls.sendText(phone, session.number, { text: "thanks" }))
      const kept = sql`select payload from whatsapp_inbox where session_id = ${other.id}`
      yield* eventually(
        sql`select content->>'body' as body from messages where session_id = ${other.id}`,
        (rows) => rows.some(({ body }) => body === "thanks")
      )
      assert.strictEqual((yield* kept).length, 1)
      const rows = yield* sql`select m::text as text from messages m`
      assert.isFalse(rows.some(({ text }) => String(text).includes(code)))
    }))

  it.effect("channel auto tries WhatsApp first and uses SMS for a number without WhatsApp", () =>
    Effect.gen(function*() {
      const { key, node, phone, session } = yield* scene
      const first = yield* sendCode(node, { key, json: { to: `+${phone}`, channel: "auto" } })
      assert.strictEqual(first.answer.at("data", "channel"), "whatsapp")
      yield* untilArrived(phone, session.number, 1)
      const to = freshNumber()
      const { answer, id } = yield* sendCode(node, { key, json: { to, channel: "auto" } })
      assert.strictEqual(answer.at("data", "channel"), "whatsapp")
      const code = yield* codeFor(node, to)
      const status = yield* node.request("GET", `/v1/verify/status/${id}`, { key })
      assert.strictEqual(status.at("data", "channel"), "sms")
      assert.strictEqual((yield* checkCode(node, { key, json: { id, code } })).at("data", "valid"), true)
    }))

  it.effect("SMS is used while no session is connected, and another account's session is refused", () =>
    Effect.gen(function*() {
      const { key: other, node, phone, session } = yield* scene
      const { key } = yield* makeAccount()
      const { id: session_id } = yield* createSession(node, key)
      const asked = (key: string, json: object) => node.request("POST", "/v1/verify/send", { key, json })
      const to = freshNumber()
      assertRefused(yield* asked(key, { to, channel: "whatsapp" }), 503, "channel_unavailable")
      assertRefused(yield* asked(key, { to, channel: "whatsapp", session_id }), 503, "channel_unavailable")
      const foreign = yield* asked(key, { to, channel: "whatsapp", session_id: session.id })
      assertRefused(foreign, 422, "validation_error")
      assert.strictEqual(foreign.at("error", "param"), "session_id")
      const sent = yield* asked(key, { to, channel: "auto", session_id })
      assert.strictEqual(sent.at("data", "channel"), "sms")
      const own = yield* asked(other, { to: `+${phone}`, channel: "whatsapp", session_id: session.id })
      assert.strictEqual(own.at("data", "channel"), "whatsapp")
    }))
})

layer(Service.layer(), { excludeTestServices: true })("limits on codes", (it) => {
  const refusedSend = Effect.fnUntraced(function*(key: string, json: unknown, reason: string) {
    const node = yield* Service
    const answer = yield* node.request("POST", "/v1/verify/send", { key, json })
    assertRefused(answer, 429, "otp_limit")
    assert.strictEqual(answer.at("error", "reason"), reason, answer.text)
    assert.strictEqual(answer.headers["retry-after"], String(answer.at("error", "retry_after")))
    return Number(answer.at("error", "retry_after"))
  })
  const older = (minutes: number) =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`update verification_sends set created_at = created_at - ${minutes}::int * interval '1 minute'`
    )

  it.effect("a recipient gets one code in 30 seconds, 5 an hour and 20 a day from each account", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const json = { to: freshAddress(), channel: "email" }
      let sent = 0
      for (let hour = 0; hour < 4; hour++) {
        for (let count = 0; count < 5; count++) {
          yield* sendCode(node, { key, json })
          sent++
          if (sent < 5) assert.isAtMost(yield* refusedSend(key, json, "resend_cool_down"), 30)
          yield* older(1)
        }
        const retry = yield* refusedSend(key, json, hour < 3 ? "recipient_hour" : "recipient_day")
        assert.isAtLeast(retry, hour < 3 ? 54 * 60 : 19 * 3600)
        yield* older(61)
      }
      assert.strictEqual(sent, 20)
      yield* refusedSend(key, json, "recipient_day")
      const other = yield* makeAccount()
      yield* sendCode(node, { key: other.key, json })
    }))

  it.effect("Starter includes 200 codes a month", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount({ plan: "starter" })
      yield* sendCode(node, { key, json: { to: freshNumber() } })
      const [counted] = yield* sql`select count::int as count from usage_daily
        where account_id = ${accountId} and metric = 'otp'`
      assert.deepStrictEqual(counted, { count: 1 })
      yield* sql`update usage_daily set count = 200 where account_id = ${accountId} and metric = 'otp'`
      const answer = yield* node.request("POST", "/v1/verify/send", { key, json: { to: freshNumber() } })
      assertRefused(answer, 402, "plan_limit_exceeded")
      assert.deepInclude(answer.at("error"), { resource: "otp", limit: 200, current: 200 })
      const sent = yield* sql`select 1 from verification_sends where account_id = ${accountId}`
      assert.strictEqual(sent.length, 1)
    }))

  /** Asks for codes at the same time. So many are sent, and all others are refused for the reason. */
  const sentAtOnce = Effect.fnUntraced(function*(asked: ReadonlyArray<object>, sent: number, reason: string) {
    const node = yield* Service
    const { key } = yield* makeAccount()
    const answers = yield* Effect.forEach(
      asked,
      (json) => node.request("POST", "/v1/verify/send", { key, json }),
      { concurrency: "unbounded" }
    )
    const others = answers.filter(({ status }) => status !== 201)
    for (const answer of others) {
      assertRefused(answer, 429, "otp_limit")
      assert.strictEqual(answer.at("error", "reason"), reason, answer.text)
    }
    assert.strictEqual(answers.length - others.length, sent)
  })

  it.effect("of requests for one recipient at the same time, one gets a code and the others 429", () =>
    Effect.suspend(() => {
      // A phone number would also wait for the others of its number range.
      const asked = { to: freshAddress(), channel: "email" }
      return sentAtOnce(Array.from({ length: 20 }, () => asked), 1, "resend_cool_down")
    }))

  it.effect("a number range gets 20 codes an hour also by requests at the same time", () =>
    sentAtOnce(
      Array.from({ length: 30 }, (_, index) => ({ to: `+2507881130${String(index).padStart(2, "0")}` })),
      20,
      "prefix_hour"
    ))

  it.effect("a client_ip gets 10 codes an hour, and IPv6 addresses count by prefix", () =>
    Effect.gen(function*() {
      const node = yield* Service
      for (const [same, other] of [["192.0.2.1", "192.0.2.2"], ["2001:db8::", "2001:db8:0:1::1"]] as const) {
        const { key } = yield* makeAccount()
        const asked = (client_ip: string) => ({ to: freshAddress(), channel: "email", client_ip })
        const ip = (last: number) => same.endsWith("::") ? `${same}${last}` : same
        for (let count = 1; count <= 10; count++) yield* sendCode(node, { key, json: asked(ip(count)) })
        yield* refusedSend(key, asked(ip(11)), "client_ip_hour")
        yield* sendCode(node, { key, json: asked(other) })
      }
    }))

  it.effect("addresses of one IPv6 network share their limit, also in requests at the same time", () =>
    Effect.suspend(() =>
      sentAtOnce(
        Array.from({ length: 30 }, (_, index) => ({
          to: freshAddress(),
          channel: "email",
          client_ip: `2001:db8::${index + 1}`
        })),
        10,
        "client_ip_hour"
      )
    ))

  it.effect("a number range gets 20 codes an hour and is blocked when none are confirmed", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      const numbers = Array.from({ length: 21 }, (_, index) => `+2507881100${String(index).padStart(2, "0")}`)
      for (const to of numbers.slice(0, 20)) yield* sendCode(node, { key, json: { to } })
      yield* refusedSend(key, { to: numbers[20] }, "prefix_hour")
      yield* older(3)
      const [block] = yield* eventually(
        sql`select prefix, until > now() + interval '11 hours' as is_long from verification_blocks
          where account_id = ${accountId}`,
        (rows) => rows.length > 0,
        longer.turn
      )
      assert.deepStrictEqual(block, { prefix: "+25078811", is_long: true })
      yield* older(60)
      const answer = yield* node.request("POST", "/v1/verify/send", { key, json: { to: numbers[20] } })
      assertRefused(answer, 403, "verification_blocked")
      yield* sendCode(node, { key, json: { to: freshNumber() } })
      const blocked = yield* node.request("GET", "/v1/verify/blocks", { key })
      assert.strictEqual(blocked.at("data", 0, "prefix"), "+25078811")
      const release = (of: string) => node.request("DELETE", "/v1/verify/blocks/%2B25078811", { key: of })
      assertRefused(yield* release((yield* makeAccount()).key), 404, "not_found")
      const released = yield* release(key)
      assert.strictEqual(released.status, 200, released.text)
      assertRefused(yield* release(key), 404, "not_found")
      assert.deepStrictEqual((yield* node.request("GET", "/v1/verify/blocks", { key })).at("data"), [])
      yield* sendCode(node, { key, json: { to: numbers[20] } })
      const notices = yield* sql`select subject from notices where account_id = ${accountId}`
      assert.deepStrictEqual(notices, [{
        subject: "Codes to numbers that begin with +25078811 are blocked for 12 hours"
      }])
    }))
})

layer(Service.layer({ env: { OTP_COUNTRIES: "RW, ke" } }), { excludeTestServices: true })(
  "OTP_COUNTRIES",
  (it) => {
    it.effect("codes go to no number of another country by any channel, and to every email address", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount()
        const elsewhere = [["+14155552671", "US"], ["+447911123456", "GG"], ["+870773111632", null]] as const
        for (const [to, country] of elsewhere) {
          for (const channel of ["sms", "whatsapp", "auto"]) {
            const answer = yield* node.request("POST", "/v1/verify/send", { key, json: { to, channel } })
            assertRefused(answer, 403, "country_not_allowed")
            assert.deepInclude(answer.at("error"), { param: "to", country })
          }
        }
        assert.deepStrictEqual(yield* sql`select from verification_sends where account_id = ${accountId}`, [])
        for (const to of ["+254712123456", freshNumber()]) yield* sendCode(node, { key, json: { to } })
        yield* sendCode(node, { key, json: { to: freshAddress(), channel: "email" } })
      }))
  }
)

layer(Service.layer({ env: { OTP_ATTEMPTS: "2", OTP_LIMIT_CLIENT_IP: "1" } }), { excludeTestServices: true })(
  "OTP_ATTEMPTS and OTP_LIMIT_CLIENT_IP",
  (it) => {
    it.effect("set how many wrong guesses a code allows, and how many codes an hour a client_ip gets", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const asked = () => ({ to: freshAddress(), channel: "email", client_ip: "192.0.2.1" })
        const json = asked()
        const { id } = yield* sendCode(node, { key, json })
        const refused = yield* node.request("POST", "/v1/verify/send", { key, json: asked() })
        assertRefused(refused, 429, "otp_limit")
        assert.deepInclude(refused.at("error"), { reason: "client_ip_hour", limit: 1 })
        const guess = { id, code: wrong(yield* codeFor(node, json.to)) }
        for (const left of [1, 0]) {
          const missed = yield* checkCode(node, { key, json: guess })
          assert.deepInclude(missed.at("data"), { valid: false, attempts_remaining: left })
        }
        assertRefused(yield* checkCode(node, { key, json: guess }), 429, "max_attempts_exceeded")
      }))
  }
)

layer(Service.layer({ env: { RATE_LIMIT_CODE_CHECK: "3" } }), { excludeTestServices: true })(
  "rate of code checks",
  (it) => {
    it.effect("checks beyond the limit per account get 429, whatever the client, and other accounts are not affected", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const check = checkCode(node, { key, json: { id: "ver_nothing", code: "123456" } })
        const answers = yield* Effect.all(Array.from({ length: 8 }, () => check))
        assert.isTrue(answers.some(({ status }) => status === 429))
        assertRefused(answers.find(({ status }) => status === 429) ?? (yield* check), 429, "rate_limit_exceeded")
        const other = yield* makeAccount()
        const own = yield* checkCode(node, { key: other.key, json: { id: "ver_nothing", code: "123456" } })
        assert.strictEqual(own.status, 404)
      }))
  }
)

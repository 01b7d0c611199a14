import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { asking, dkimVerdict, ended, readMail } from "../support/bulkMail.ts"
import { type DnsServer, makeDnsServer } from "../support/DnsServer.ts"
import { Relay } from "../support/Relay.ts"
import { makeAccount, makeKey, type RunningNode, Service, startNode } from "../support/Service.ts"
import { eventually } from "../support/waiting.ts"

/** The nodes' name server; each test publishes under its own names. */
class Zone extends Context.Service<Zone, DnsServer>()("messaging-service/test/journeys/emailDomains.test/Zone") {}

const envOf = ({ address }: DnsServer) => ({
  DNS_SERVERS: address,
  SPF_INCLUDE_HOST: "spf.service.example",
  MAIL_FROM: "Service <us@service.example>",
  HELO_NAME: "node.service.example",
  PUBLIC_URL: "https://service.example"
})

const Nodes = Layer.unwrap(Effect.map(Zone, (server) => Relay.layer({ env: envOf(server) }))).pipe(
  Layer.provideMerge(Layer.effect(Zone, makeDnsServer({})))
)

type Records = ReadonlyArray<{ type: string; name: string; value: string; purpose: string; status?: string }>

const recordsOf = (node: RunningNode, key: string, id: number) =>
  Effect.map(
    node.request("GET", `/v1/email/domains/${id}`, { key }),
    ({ at }) => at("data", "dns_records") as Records // as the contract says
  )

const add = Effect.fnUntraced(function*(node: RunningNode, key: string, domain: string) {
  const answer = yield* node.request("POST", "/v1/email/domains", { key, json: { domain } })
  assert.strictEqual(answer.status, 201, answer.text)
  const id = Number(answer.at("data", "id"))
  assert.strictEqual(answer.headers["location"], `/v1/email/domains/${id}`)
  return { id, answer, records: answer.at("data", "dns_records") as Records }
})

const valueOf = (records: Records, purpose: string) => records.find((record) => record.purpose === purpose)?.value ?? ""

/** Replaces the domain's published records with those of the given purposes. */
const publish = Effect.fnUntraced(function*(records: Records, purposes = ["DKIM", "SPF"]) {
  const { zone } = yield* Zone
  for (const { name } of records) zone[name] = {}
  for (const { name, purpose, type, value } of records) {
    if (!purposes.includes(purpose)) continue
    const [priority = "", exchange = ""] = value.split(" ")
    zone[name] = {
      ...Object(zone[name]),
      ...(type === "TXT" ? { TXT: [value] } : { MX: [[Number(priority), exchange]] })
    }
    if (type === "MX") zone[exchange] = { A: ["192.0.2.25"] }
  }
})

/** Moves the last check into the past, because a check is repeated only after ten seconds. */
const age = (id: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`update email_domains set checked_at = checked_at - interval '11 seconds' where id = ${id}`
  )

const verify = (node: RunningNode, key: string, id: number) =>
  node.request("POST", `/v1/email/domains/${id}/verify`, { key })

const verified = Effect.fnUntraced(function*(node: RunningNode, key: string, domain: string) {
  const added = yield* add(node, key, domain)
  yield* publish(added.records)
  const answer = yield* verify(node, key, added.id)
  assert.strictEqual(answer.at("data", "status"), "verified", answer.text)
  return added
})

const statusesOf = (records: unknown) => (records as Records).map(({ purpose, status }) => `${purpose} ${status}`)

const notices = (accountId: number) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql`select kind, subject, body from notices where account_id = ${accountId} order by id`,
      (rows) => rows.map(({ kind, subject }) => `${String(kind)}: ${String(subject)}`)
    ))

layer(Nodes, { excludeTestServices: true })("sending domains", (it) => {
  it.effect("with a real relay a domain below .test does not verify", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const { id } = yield* add(node, key, "shop.test")
      const checked = yield* verify(node, key, id)
      assert.deepStrictEqual([checked.status, checked.at("data", "status")], [200, "pending"])
    }))

  it.effect("sending from the default sender warns until its domain is verified, in any account", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const mail = { subject: "Hello", html: "<p>Hello</p>" }
      /** The answers know the domain of the default sender as it was two seconds ago. */
      const warned = (pattern: RegExp) => eventually(warnings, (both) => both.every((text) => pattern.test(text)))
      const warnings = Effect.gen(function*() {
        const recipients = ["eve@people.example"]
        const bulk = yield* node.request("POST", "/v1/email/send-bulk", { key, json: { ...mail, recipients } })
        const single = yield* node.request("POST", "/v1/email/send", {
          key,
          json: { ...mail, to: "eve@people.example" }
        })
        return [single, bulk].map((answer) => JSON.stringify(answer.at("data", "warnings")))
      })
      yield* warned(/^\["The domain of the default sender is not verified[^"]*"\]$/)
      const operator = yield* makeAccount()
      const { id, records } = yield* verified(node, operator.key, "service.example")
      yield* warned(/^\["[^"]*DMARC[^"]*"\]$/)
      yield* publish(records, ["DKIM", "SPF", "DMARC"])
      yield* age(id)
      yield* verify(node, operator.key, id)
      yield* warned(/^\[\]$/)
    }))

  it.effect("a domain can be added, published, verified, used to send signed mail, and deleted", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const { accountId, email, key } = yield* makeAccount()
      const { answer, id, records } = yield* add(node, key, "News.Example.")
      assert.deepStrictEqual(Object.keys(Object(answer.json)), ["success", "data"])
      const dkim = valueOf(records, "DKIM")
      assert.match(dkim, /^k=rsa;t=s;p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A[A-Za-z0-9+/]+$/)
      assert.deepStrictEqual(answer.at("data"), {
        id,
        domain: "news.example",
        status: "pending",
        dns_records: [
          { type: "TXT", name: "api._domainkey.news.example", value: dkim, purpose: "DKIM" },
          { type: "TXT", name: "news.example", value: "v=spf1 include:spf.service.example ~all", purpose: "SPF" },
          { type: "TXT", name: "_dmarc.news.example", value: "v=DMARC1; p=none; adkim=r; aspf=r", purpose: "DMARC" },
          { type: "MX", name: "news.example", value: "10 mail.news.example", purpose: "MX" }
        ]
      })
      const pending = yield* verify(node, key, id)
      assert.deepStrictEqual([pending.status, pending.at("data", "status")], [200, "pending"])
      assert.deepStrictEqual(statusesOf(pending.at("data", "dns_records")), [
        "DKIM missing",
        "SPF missing",
        "DMARC missing",
        "MX missing"
      ])
      const mail = {
        subject: "Hello",
        html: "<p>Hello</p>",
        from: "us@news.example",
        recipients: ["ada@people.example"]
      }
      const refused = yield* node.request("POST", "/v1/email/send-bulk", { key, json: mail })
      assert.deepStrictEqual([refused.status, refused.at("error", "type")], [422, "invalid_from_domain"])

      yield* publish(records)
      yield* age(id)
      const done = yield* verify(node, key, id)
      assert.deepStrictEqual([done.status, done.at("data", "status")], [200, "verified"])
      assert.deepStrictEqual(statusesOf(done.at("data", "dns_records")), [
        "DKIM verified",
        "SPF verified",
        "DMARC missing",
        "MX missing"
      ])
      assert.deepStrictEqual(done.at("data", "dns_records", 0, "found"), [dkim])

      const accepted = yield* node.request("POST", "/v1/email/send-bulk", { key, json: mail })
      assert.match(String(accepted.at("data", "warnings", 0)), /DMARC/)
      assert.isUndefined(accepted.at("data", "warnings", 1))
      const single = { to: "bob@people.example", from: mail.from, subject: "One", text: "Hello" }
      const alone = yield* node.request("POST", "/v1/email/send", { key, json: single })
      assert.deepStrictEqual(alone.at("data", "warnings"), accepted.at("data", "warnings"))
      const batch = String(accepted.at("data", "batch_id"))
      assert.strictEqual((yield* ended(node, key, batch)).at("data", "sent"), 1)
      const sent = sink.messages.find(({ to }) => to[0] === "ada@people.example")
      const verdict = yield* dkimVerdict(sent?.raw ?? Buffer.alloc(0), dkim)
      assert.deepStrictEqual(verdict, { result: "pass", domain: "news.example" })

      const one = yield* node.request("GET", `/v1/email/domains/${id}`, { key })
      assert.deepInclude(one.at("data"), { id, domain: "news.example", status: "verified", dns_records: records })
      assert.match(String(one.at("data", "warnings", 0)), /DMARC/)
      const list = yield* node.request("GET", "/v1/email/domains", { key })
      assert.deepStrictEqual(list.json, { data: [one.at("data")] })
      yield* sink.until(({ messages }) => messages.some(({ to }) => to[0] === email))
      const ownerMail = yield* readMail(sink.messages.find(({ to }) => to[0] === email)?.raw ?? Buffer.alloc(0))
      assert.strictEqual(ownerMail.mail.subject, "news.example is verified")

      const gone = yield* node.request("DELETE", `/v1/email/domains/${id}`, { key })
      assert.deepStrictEqual([gone.status, gone.at("success"), gone.at("data")], [200, true, null])
      for (const [method, path] of [["GET", ""], ["DELETE", ""], ["POST", "/verify"]] as const) {
        const after = yield* node.request(method, `/v1/email/domains/${id}${path}`, { key })
        assert.deepStrictEqual([after.status, after.at("error", "code")], [404, 4040])
      }
      const late = yield* node.request("POST", "/v1/email/send-bulk", { key, json: mail })
      assert.strictEqual(late.at("error", "type"), "invalid_from_domain")
      const again = yield* add(node, key, "news.example")
      assert.notStrictEqual(valueOf(again.records, "DKIM"), dkim)
      assert.deepStrictEqual(yield* notices(accountId), ["domain_verified: news.example is verified"])
    }))

  it.effect("no row, log line or answer shows a DKIM private key", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      const { answer, id } = yield* add(node, key, "sealed.example")
      const [row] = yield* sql`select encode(dkim_private_key, 'escape') as sealed from email_domains where id = ${id}`
      for (const text of [String(row?.["sealed"]), answer.text, node.logs.join()]) {
        assert.notMatch(text, /PRIVATE KEY|MIIEv/)
      }
    }))

  it.effect("an account adds each domain once, in any spelling, even in concurrent requests", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const { answer } = yield* add(node, key, "Grüße.example")
      assert.strictEqual(answer.at("data", "domain"), "xn--gre-6ka8l.example")
      assert.strictEqual(answer.at("data", "dns_records", 0, "name"), "api._domainkey.xn--gre-6ka8l.example")
      for (const domain of ["grüße.example", "XN--GRE-6KA8L.example."]) {
        const twice = yield* node.request("POST", "/v1/email/domains", { key, json: { domain } })
        assert.deepStrictEqual([twice.status, twice.at("error", "type"), twice.at("error", "code")], [
          409,
          "domain_already_exists",
          4092
        ])
      }
      const answers = yield* Effect.forEach(
        Array.from({ length: 5 }),
        () => node.request("POST", "/v1/email/domains", { key, json: { domain: "race.example" } }),
        { concurrency: 5 }
      )
      assert.sameMembers(answers.map(({ status }) => status), [201, 409, 409, 409, 409])
    }))

  it.effect("a domain that cannot be owned is refused with the reason", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const bad: ReadonlyArray<readonly [domain: unknown, message: RegExp]> = [
        ["co.uk", /public suffix/],
        ["com", /two labels/],
        ["localhost", /two labels/],
        ["127.0.0.1", /IP address/],
        ["[::1]", /IP address/],
        ["https://a.example", /./],
        ["a.example/path", /./],
        ["us@a.example", /./],
        ["a..example", /empty label/],
        ["-a.example", /letters, digits/],
        ["*.example", /./],
        ["_dmarc.a.example", /underscore/],
        [`${"a".repeat(64)}.example`, /63 characters/],
        ["a.example\0", /./],
        ["", /empty/],
        [7, /./],
        [undefined, /./]
      ]
      for (const [domain, message] of bad) {
        const answer = yield* node.request("POST", "/v1/email/domains", { key, json: { domain } })
        assert.deepStrictEqual([answer.status, answer.at("error", "param")], [422, "domain"], answer.text)
        assert.match(String(answer.at("error", "errors", 0, "message")), message, answer.text)
      }
      assert.deepStrictEqual((yield* node.request("GET", "/v1/email/domains", { key })).json, { data: [] })
    }))

  it.effect("domain endpoints require the email scope and a domains permission", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { accountId, key } = yield* makeAccount()
      const { id } = yield* add(node, key, "scoped.example")
      const asked = (secret: string) =>
        Effect.forEach(
          [["GET", ""], ["GET", `/${id}`], ["POST", `/${id}/verify`], ["DELETE", `/${id}`]] as const,
          ([method, path]) =>
            Effect.map(node.request(method, `/v1/email/domains${path}`, { key: secret }), ({ status }) => status)
        )
      const of = (options: Parameters<typeof makeKey>[1]) =>
        Effect.flatMap(makeKey(accountId, options), (made) => asked(made.key))
      assert.deepStrictEqual(yield* of({ scopes: ["sms:write"] }), [403, 403, 403, 403])
      assert.deepStrictEqual(yield* of({ permissions: ["domains:read"] }), [200, 200, 403, 403])
      assert.deepStrictEqual(yield* of({ permissions: ["domains:write"] }), [403, 403, 200, 200])
      const other = yield* add(node, key, "scoped.example")
      const scoped = yield* makeKey(accountId, { scopes: ["email:write"] })
      assert.strictEqual((yield* verify(node, scoped.key, other.id)).status, 200)
    }))

  it.effect("concurrent checks of a domain share one DNS lookup over all nodes, at most one in ten seconds", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const server = yield* Zone
      const second = yield* startNode({ smtpPort: sink.port, env: envOf(server) })
      const { key } = yield* makeAccount()
      const { id, records } = yield* add(node, key, "once.example")
      yield* publish(records)
      const lookups = () => server.queries.filter((query) => query === "MX once.example").length
      const answers = yield* Effect.forEach(
        [node, second, node, second, node],
        (each) => verify(each, key, id),
        { concurrency: "unbounded" }
      )
      for (const { json, status } of answers) {
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(json, answers[0]?.json)
      }
      yield* verify(second, key, id)
      assert.strictEqual(lookups(), 1)
      yield* age(id)
      yield* verify(second, key, id)
      assert.strictEqual(lookups(), 2)
    }))

  it.effect("a repeated verify request with an Idempotency-Key looks DNS up once", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const server = yield* Zone
      const { key } = yield* makeAccount()
      const { id, records } = yield* add(node, key, "repeated.example")
      yield* publish(records)
      const ask = node.request("POST", `/v1/email/domains/${id}/verify`, { key, headers: { "idempotency-key": "one" } })
      const first = yield* ask
      yield* age(id)
      const again = yield* ask
      assert.strictEqual(again.headers["idempotency-replayed"], "true")
      assert.deepStrictEqual([again.json, first.at("data", "status")], [first.json, "verified"])
      assert.strictEqual(server.queries.filter((query) => query === "MX repeated.example").length, 1)
    }))

  it.effect("verify with an Idempotency-Key works when DNS takes longer than a transaction may be idle", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { zone } = yield* Zone
      const { key } = yield* makeAccount()
      const { id, records } = yield* add(node, key, "sluggish.example")
      yield* publish(records)
      // Each silent query is repeated after two seconds and fails after five.
      zone["sluggish.example"] = (asked, type) =>
        type !== "MX"
          ? { TXT: [valueOf(records, "SPF")] }
          : asked === 0
          ? "silent"
          : { MX: [[10, "mail.sluggish.example"]] }
      zone["mail.sluggish.example"] = (asked, type) => type === "A" && asked > 0 ? {} : "silent"
      const answer = yield* node.request("POST", `/v1/email/domains/${id}/verify`, {
        key,
        headers: { "idempotency-key": "slow" }
      })
      assert.deepStrictEqual([answer.status, answer.at("data", "status")], [200, "verified"], answer.text)
      assert.strictEqual(answer.at("data", "dns_records", 3, "status"), "temporary_error")
    }))

  it.effect("a domain keeps its status while name servers fail, and reports temporary_error", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { zone } = yield* Zone
      const { key } = yield* makeAccount()
      const { id, records } = yield* verified(node, key, "faulty.example")
      for (const { name } of records) zone[name] = "servfail"
      yield* age(id)
      const answer = yield* verify(node, key, id)
      assert.deepStrictEqual([answer.status, answer.at("data", "status")], [200, "verified"])
      assert.deepStrictEqual([...new Set(statusesOf(answer.at("data", "dns_records")).map((it) => it.split(" ")[1]))], [
        "temporary_error"
      ])
    }))

  it.effect("a domain added by several accounts belongs to the account whose key is published", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const first = yield* makeAccount()
      const second = yield* makeAccount()
      const mail = { subject: "s", html: "h", from: "us@shared.example", recipients: ["fine@people.example"] }
      const own = yield* verified(node, first.key, "shared.example")
      const other = yield* add(node, second.key, "shared.example")
      assert.notStrictEqual(valueOf(own.records, "DKIM"), valueOf(other.records, "DKIM"))
      const early = yield* verify(node, second.key, other.id)
      assert.deepStrictEqual([early.at("data", "status"), early.at("data", "dns_records", 0, "status")], [
        "pending",
        "mismatch"
      ])
      assert.strictEqual(
        (yield* node.request("POST", "/v1/email/send-bulk", { key: first.key, json: mail })).status,
        202
      )

      yield* publish(other.records)
      yield* age(other.id)
      assert.strictEqual((yield* verify(node, second.key, other.id)).at("data", "status"), "verified")
      const displaced = yield* node.request("GET", `/v1/email/domains/${own.id}`, { key: first.key })
      assert.strictEqual(displaced.at("data", "status"), "pending")
      assert.deepStrictEqual(yield* notices(first.accountId), [
        "domain_verified: shared.example is verified",
        "domain_unverified: shared.example is no longer verified"
      ])
      const refused = yield* node.request("POST", "/v1/email/send-bulk", { key: first.key, json: mail })
      assert.strictEqual(refused.at("error", "type"), "invalid_from_domain")
      assert.strictEqual(
        (yield* node.request("POST", "/v1/email/send-bulk", { key: second.key, json: mail })).status,
        202
      )
    }))

  it.effect("another account's domain returns the same 404 as an unknown one", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const stranger = yield* makeAccount()
      const { id } = yield* add(node, key, "private.example")
      for (const [method, path] of [["GET", ""], ["DELETE", ""], ["POST", "/verify"]] as const) {
        const foreign = yield* node.request(method, `/v1/email/domains/${id}${path}`, { key: stranger.key })
        const unknown = yield* node.request(method, `/v1/email/domains/999999999${path}`, { key: stranger.key })
        assert.deepStrictEqual([foreign.status, foreign.at("error")], [404, unknown.at("error")])
      }
      assert.isNotEmpty(yield* recordsOf(node, key, id))
    }))
})

/** The domain's row after its next check, which is made due now. */
const rechecked = Effect.fnUntraced(function*(id: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`update email_domains set next_check_at = now(), checked_at = null where id = ${id}`
  const [row] = yield* eventually(
    sql`select status, failures, checked_at is not null as is_done, failing_since is null as is_well,
        extract(epoch from next_check_at - now())::float8 / 60 as minutes
      from email_domains where id = ${id}`,
    ([seen]) => seen?.["is_done"] === true
  )
  return {
    status: row?.["status"],
    failures: row?.["failures"],
    is_well: row?.["is_well"],
    minutes: Number(row?.["minutes"])
  }
})

layer(Nodes, { excludeTestServices: true })("periodic domain checks", (it) => {
  it.effect("a pending domain is verified once its records are published, and the owner is notified", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { accountId, key } = yield* makeAccount()
      const { id, records } = yield* add(node, key, "waiting.example")
      assert.deepInclude(yield* rechecked(id), { status: "pending", failures: 0 })
      yield* publish(records)
      const row = yield* rechecked(id)
      assert.strictEqual(row.status, "verified")
      assert.isTrue(row.minutes > 21 * 60 && row.minutes <= 26 * 60, String(row.minutes))
      const answer = yield* node.request("GET", `/v1/email/domains/${id}`, { key })
      assert.strictEqual(answer.at("data", "status"), "verified")
      assert.deepStrictEqual(yield* notices(accountId), ["domain_verified: waiting.example is verified"])
    }))

  it.effect("a pending domain is checked with growing pauses and after three days only on demand", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      const { id, records } = yield* add(node, key, "forgotten.example")
      const pauseAfter = (hours: number) =>
        Effect.andThen(
          sql`update email_domains set pending_since = now() - ${hours}::float8 * interval '1 hour' where id = ${id}`,
          Effect.map(rechecked(id), ({ minutes }) => Math.ceil(minutes))
        )
      assert.deepStrictEqual(yield* Effect.forEach([0, 0.5, 71, 73], pauseAfter), [1, 10, 60, 0])
      const [row] = yield* sql`select next_check_at from email_domains where id = ${id}`
      assert.isNull(row?.["next_check_at"])
      yield* publish(records)
      yield* age(id)
      assert.strictEqual((yield* verify(node, key, id)).at("data", "status"), "verified")
    }))

  it.effect("a verification is withdrawn after three certain failures over 48 hours, with a mail that gives the reason", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const sql = yield* SqlClient.SqlClient
      const { zone } = yield* Zone
      const { accountId, email, key } = yield* makeAccount()
      const { id, records } = yield* verified(node, key, "fading.example")
      const failing = (hours: number) =>
        Effect.andThen(
          sql`update email_domains set failing_since = now() - ${hours}::float8 * interval '1 hour' where id = ${id}`,
          rechecked(id)
        )
      const mail = { subject: "s", html: "h", from: "us@fading.example", recipients: ["fine@people.example"] }
      const accepted = Effect.map(
        node.request("POST", "/v1/email/send-bulk", { key, json: mail }),
        ({ status }) => status
      )
      yield* publish(records, ["SPF"])
      assert.deepInclude(yield* rechecked(id), { status: "verified", failures: 1 })
      assert.deepInclude(yield* failing(60), { status: "verified", failures: 2 })
      assert.deepInclude(yield* failing(47), { status: "verified", failures: 3 })
      for (const { name } of records) zone[name] = "servfail"
      assert.deepInclude(yield* failing(200), { status: "verified", failures: 3 })
      yield* publish(records)
      assert.deepInclude(yield* rechecked(id), { status: "verified", failures: 0, is_well: true })
      assert.strictEqual(yield* accepted, 202)

      yield* publish(records, ["SPF"])
      yield* sql`update email_domains set failures = 2 where id = ${id}`
      assert.deepInclude(yield* failing(49), { status: "pending", failures: 0 })
      assert.strictEqual(yield* accepted, 422)
      assert.deepStrictEqual((yield* notices(accountId)).slice(1), [
        "domain_unverified: fading.example is no longer verified"
      ])
      const toOwner = () => sink.messages.filter(({ to }) => to[0] === email)
      yield* sink.until(() => toOwner().length === 2)
      const mails = yield* Effect.forEach(toOwner(), ({ raw }) => readMail(raw))
      const lost = mails.find(({ mail }) => mail.subject === "fading.example is no longer verified")
      assert.match(lost?.mail.text ?? "", /DKIM: There is no TXT record/)
      yield* publish(records)
      assert.deepInclude(yield* rechecked(id), { status: "verified" })
    }))

  it.effect("a check is repeated when the node that ran it dies", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      const { id, records } = yield* add(node, key, "orphaned.example")
      yield* publish(records)
      // A node that dies during a check leaves the row like this: with a lease.
      yield* sql`update email_domains set check_until = now() + interval '2 seconds', next_check_at = now() where id = ${id}`
      const done = yield* asking(
        node.request("GET", `/v1/email/domains/${id}`, { key }),
        ({ at }) => typeof at("data", "checked_at") === "string"
      )
      assert.strictEqual(done.at("data", "status"), "verified")
    }))
})

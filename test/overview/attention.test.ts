import { assert, describe, it, layer } from "@effect/vitest"
import { DateTime, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type AttentionFacts, AttentionItem, attentionOf } from "../../src/overview/attentionOf.ts"
import { Timestamp } from "../../src/values/Timestamp.ts"
import { ownerOf } from "../support/consolePeople.ts"
import { eventually, live, makeAccount, makeKey, Service } from "../support/Service.ts"

const now = Date.parse("2026-05-03T12:00:00Z")
const at = (minutesAgo: number) => Timestamp.make(new Date(now - minutesAgo * 60_000).toISOString())

const nothing: AttentionFacts = {
  now: at(0),
  webhooks: [],
  sessions: [],
  domains: [],
  keys: [],
  mail: { sent: 1000, bounced: 49, complained: 0 },
  quotas: [{ resource: "email", limit: 100, used: 79 }, { resource: "sms", limit: null, used: 1_000_000 }],
  trial_ends_at: null,
  waiting: [],
  outages: [],
  blocks: [],
  has_second_factor: true
}

const webhook = { id: 1, name: "https://shop.example", unhealthy_reason: null, failure_count: 0, failing_since: null }
const session = { id: 2, name: "Shop", status: "connected" as const, since: at(60) }
const domain = { id: 3, name: "example.com", status: "verified" as const, failing_since: null, pending_since: at(9999) }
const key = { id: 4, name: "Shop", expires_at: null, used_at: at(1) }
const day = 24 * 60

const codesOf = (facts: Partial<AttentionFacts>) => attentionOf({ ...nothing, ...facts }).map(({ code }) => code)

describe("what needs attention", () => {
  it("is nothing while all is well", () => {
    assert.deepStrictEqual(
      codesOf({ webhooks: [webhook], sessions: [session], domains: [domain], keys: [key] }),
      []
    )
  })

  it("is each thing from the moment that its rule names", () => {
    const cases: ReadonlyArray<readonly [Partial<AttentionFacts>, ReadonlyArray<string>]> = [
      [{ webhooks: [{ ...webhook, unhealthy_reason: "gone" }] }, ["webhook_unhealthy"]],
      [{ webhooks: [{ ...webhook, failure_count: 3 }] }, ["webhook_failing"]],
      [{ webhooks: [{ ...webhook, failure_count: 2 }] }, []],
      [{ sessions: [{ ...session, status: "failed" }] }, ["session_failed"]],
      [{ sessions: [{ ...session, status: "disconnected", since: at(3) }] }, ["session_disconnected"]],
      [{ sessions: [{ ...session, status: "disconnected", since: at(2) }] }, []],
      [{ sessions: [{ ...session, status: "pending", since: at(11) }] }, ["session_unpaired"]],
      [{ sessions: [{ ...session, status: "pending", since: at(10) }] }, []],
      [{ domains: [{ ...domain, failing_since: at(1) }] }, ["domain_lost"]],
      [{ domains: [{ ...domain, status: "pending", pending_since: at(day + 1) }] }, ["domain_pending"]],
      [{ domains: [{ ...domain, status: "pending", pending_since: at(day) }] }, []],
      [{ mail: { sent: 1000, bounced: 50, complained: 1 } }, ["bounces_high", "complaints_high"]],
      [{ mail: { sent: 199, bounced: 199, complained: 199 } }, []],
      [{ quotas: [{ resource: "sms", limit: 100, used: 80 }] }, ["quota_near"]],
      [{ quotas: [{ resource: "sms", limit: 100, used: 100 }] }, ["quota_reached"]],
      // A quota of 0 is a channel that the account does not have.
      [{ quotas: [{ resource: "sms", limit: 0, used: 0 }] }, []],
      [{ waiting: [{ channel: "email", is_code: false, since: at(1.1) }] }, ["queue_late"]],
      [{ waiting: [{ channel: "email", is_code: false, since: at(1) }] }, []],
      [{ waiting: [{ channel: "sms", is_code: true, since: at(0.2) }] }, ["codes_late"]],
      [{ waiting: [{ channel: "sms", is_code: true, since: at(0.1) }] }, []],
      [{ waiting: [{ channel: "whatsapp", is_code: false, since: at(1.1) }] }, ["queue_late"]],
      [{ waiting: [{ channel: "whatsapp", is_code: true, since: at(0.2) }] }, ["codes_late"]],
      [{ outages: [{ upstream: "relay", since: at(0) }] }, ["relay_away"]],
      [{ outages: [{ upstream: "carrier", since: at(0) }] }, ["carrier_away"]],
      [{ trial_ends_at: at(-day) }, ["trial_ending"]],
      [{ trial_ends_at: at(-day - 1) }, []],
      [{ trial_ends_at: at(1) }, []],
      [{ blocks: [{ prefix: "+25078811", since: at(1), until: at(-1) }] }, ["codes_blocked"]],
      [{ keys: [{ ...key, expires_at: at(-7 * day) }] }, ["key_expiring"]],
      [{ keys: [{ ...key, expires_at: at(1), used_at: at(999 * day) }] }, []],
      [{ keys: [{ ...key, used_at: at(90 * day) }] }, ["key_unused"]],
      [{ has_second_factor: false }, ["no_second_factor"]],
      [{ has_second_factor: null }, []]
    ]
    for (const [facts, codes] of cases) assert.deepStrictEqual(codesOf(facts), codes, JSON.stringify(facts))
  })

  it("says of a webhook how many deliveries failed, and that a full backlog ends by itself", () => {
    const messageOf = (changes: Partial<AttentionFacts["webhooks"][number]>) =>
      attentionOf({ ...nothing, webhooks: [{ ...webhook, ...changes }] })[0]?.message
    assert.include(messageOf({ failure_count: 3 }), "The last 3 deliveries to the webhook")
    assert.include(messageOf({ unhealthy_reason: "failing" }), "Repair its endpoint, then activate it.")
    const full = messageOf({ unhealthy_reason: "backlog_full" })
    assert.include(full, "It gets them again once half of these are sent.")
    assert.notInclude(full, "activate")
  })

  const Moment = Schema.Int.check(Schema.isBetween({ minimum: -200 * day, maximum: 200 * day }))
  const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 500 }))

  it.prop(
    "is sorted by weight and age, and each entry is a whole sentence about a thing of the facts",
    [
      Schema.Array(Schema.Tuple([Schema.Literals(["pending", "disconnected", "failed"]), Moment])),
      Schema.Array(Schema.Tuple([Count, Moment])),
      Schema.Tuple([Count, Count, Count])
    ],
    ([sessions, webhooks, [sent, bounced, complained]]) => {
      const items = attentionOf({
        ...nothing,
        sessions: sessions.map(([status, since], id) => ({ id, name: `s${id}`, status, since: at(since) })),
        webhooks: webhooks.map(([failure_count, since], id) => ({
          ...webhook,
          id,
          name: `w${id}`,
          failure_count,
          failing_since: at(since),
          unhealthy_reason: failure_count > 250 ? "failing" : null
        })),
        mail: { sent, bounced, complained }
      })
      const names = new Set([...sessions.map((_, id) => `s${id}`), ...webhooks.map((_, id) => `w${id}`)])
      for (const [index, item] of items.entries()) {
        Schema.decodeSync(AttentionItem)(item)
        assert.match(item.message, /^[A-Z0-9].*\.$/)
        if (item.subject !== null) assert.include([...names], item.subject.name)
        const before = items[index - 1]
        if (before === undefined) continue
        assert.isFalse(before.severity === "warn" && item.severity === "bad")
        if (before.severity === item.severity && item.since !== null) {
          assert.isTrue(before.since !== null && before.since <= item.since)
        }
      }
    }
  )
})

layer(Service.layer(), { excludeTestServices: true })("GET /v1/account/attention", (it) => {
  it.effect("names sessions that failed, lost their connection, or wait for a phone, also when nothing tries again", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      const add = (status: string, desired: string, minutes: number) =>
        sql`insert into whatsapp_sessions (account_id, session_key, name, status, desired, status_since, updated_at, data_key)
          values (${accountId}, gen_random_uuid()::text, ${status}, ${status}, ${desired},
            now() - ${minutes}::integer * interval '1 minute', now(), 'k')`
      yield* add("failed", "off", 1)
      yield* add("disconnected", "on", 3)
      yield* add("pending", "off", 11)
      yield* add("connected", "on", 30)
      yield* add("failed", "removed", 30)
      const { at, text } = yield* request("GET", "/v1/account/attention", { key })
      const items = at("data") as ReadonlyArray<{ readonly code: string }>
      assert.sameMembers(
        items.map(({ code }) => code).filter((code) => code.startsWith("session_")),
        ["session_failed", "session_disconnected", "session_unpaired"],
        text
      )
    }))

  it.effect("names a WhatsApp queue whose session sent nothing for a minute, but not one that it sends slowly", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const late = Effect.fnUntraced(
        function*(options: { readonly writtenSecondsAgo: number; readonly batch?: string }) {
          const { accountId, key } = yield* makeAccount()
          const [session] =
            yield* sql`insert into whatsapp_sessions (account_id, session_key, name, status, desired, data_key)
          values (${accountId}, gen_random_uuid()::text, 'Shop', 'disconnected', 'off', 'k') returning id`
          const add = (status: string, lane: number) =>
            sql`with m as (
              insert into messages (account_id, channel, session_id, direction, recipient, content, status, created_at)
              values (${accountId}, 'whatsapp', ${
              session?.["id"]
            }, 'out', '+250788123456', '{"body": "Hello"}', 'queued',
                now() - interval '2 minutes') returning id
            )
            insert into whatsapp_outbox (message_id, session_id, whatsapp_id, lane, status, written_at)
            select id, ${session?.["id"]}, id::text, ${lane}, ${status},
              case when ${status} = 'written' then now() - ${options.writtenSecondsAgo}::integer * interval '1 second' end
            from m`
          yield* add("written", 0)
          yield* add("queued", options.batch === undefined ? 0 : 1)
          const { at, text } = yield* request("GET", "/v1/account/attention", { key })
          const items = at("data") as ReadonlyArray<{ readonly code: string; readonly message: string }>
          return [items.filter(({ code }) => code === "queue_late").map(({ message }) => message), text] as const
        }
      )
      const [found, text] = yield* late({ writtenSecondsAgo: 90 })
      assert.match(found.join(), /^Messages by whatsapp wait since .*Their session may be disconnected/, text)
      assert.deepStrictEqual((yield* late({ writtenSecondsAgo: 10 }))[0], [])
      assert.deepStrictEqual((yield* late({ writtenSecondsAgo: 90, batch: "yes" }))[0], [])
    }))

  it.effect("names a late WhatsApp code that waits behind many other messages", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      yield* sql`with s as (
          insert into whatsapp_sessions (account_id, session_key, name, status, desired, data_key)
          values (${accountId}, gen_random_uuid()::text, 'Shop', 'disconnected', 'off', 'k') returning id
        ), m as (
          insert into messages (account_id, channel, session_id, direction, recipient, content, status, created_at)
          select ${accountId}, 'whatsapp', s.id, 'out', '+250788123456', '{"body": "Hello"}', 'queued',
            now() - interval '30 seconds'
          from s, generate_series(1, 101) returning id, session_id
        )
        insert into whatsapp_outbox (message_id, session_id, whatsapp_id, lane, status, code_seed)
        select id, session_id, id::text, 0, 'queued', case when id = (select max(id) from m) then 'seed' end from m`
      const { at, text } = yield* request("GET", "/v1/account/attention", { key })
      const items = at("data") as ReadonlyArray<{ readonly code: string; readonly subject: { readonly id: string } }>
      const late = items.filter(({ code }) => code.endsWith("_late"))
      assert.deepStrictEqual(late.map(({ code, subject }) => `${code} ${subject.id}`), ["codes_late whatsapp"], text)
    }))

  it.effect("names webhooks without their query, and names them and keys only to keys that may list them", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      const url = "https://shop.example/hook?secret=hunter2"
      const made = yield* request("POST", "/v1/webhooks", { key, json: { url, events: ["*"] } })
      // The use of the key is stored after the answer.
      yield* eventually(
        sql`select last_used_at from api_keys where account_id = ${accountId}`,
        ([row]) => row?.["last_used_at"] !== null
      )
      yield* sql`update webhooks set unhealthy_reason = 'gone', failing_since = now()
        where id = ${Number(made.at("data", "id"))}`
      yield* sql`update api_keys set created_at = now() - interval '91 days', last_used_at = null
        where account_id = ${accountId}`
      yield* sql`insert into verification_blocks (account_id, prefix, until)
        values (${accountId}, '+25078811', now() + interval '11 hours')`
      const seen = Effect.fnUntraced(function*(options: Parameters<typeof makeKey>[1]) {
        const { text, at } = yield* request("GET", "/v1/account/attention", yield* makeKey(accountId, options))
        assert.notInclude(text, "hunter2")
        const items = at("data") as ReadonlyArray<
          { readonly code: string; readonly subject: { readonly name: string } }
        >
        return items.map(({ code, subject }) => `${code} ${subject.name}`)
      })
      const block = "codes_blocked +25078811"
      const [webhook, unused] = ["webhook_unhealthy https://shop.example/hook", "key_unused Test"]
      assert.sameMembers(yield* seen({}), [block, webhook, unused])
      assert.sameMembers(yield* seen({ permissions: ["account:read", "webhooks:read"] }), [block, webhook])
      assert.sameMembers(yield* seen({ permissions: ["account:read", "keys:read"] }), [block, unused])
      assert.sameMembers(yield* seen({ scopes: ["account:read"] }), [block])
    }))

  it.effect("names blocked prefixes, unused keys and an owner without a second factor, until each is repaired", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      const items = Effect.map(
        request("GET", "/v1/account/attention", { key }),
        ({ at }) =>
          (at("data") as ReadonlyArray<Readonly<Record<string, unknown>>>).filter(({ code }) =>
            code === "codes_blocked" || code === "key_unused" || code === "no_second_factor"
          )
      )
      assert.deepStrictEqual(yield* items, [])
      const { personId } = yield* ownerOf(accountId)
      const made = yield* request("POST", "/v1/api-keys", { key, json: { name: "Old" } })
      yield* sql`update api_keys set created_at = now() - interval '91 days' where id = ${
        Number(made.at("data", "id"))
      }`
      yield* sql`insert into verification_blocks (account_id, prefix, until)
        values (${accountId}, '+25078811', now() + interval '11 hours')`
      const found = yield* items
      assert.sameMembers(found.map(({ code }) => code), ["codes_blocked", "key_unused", "no_second_factor"])
      // Who signs out can sign in again.
      yield* sql`delete from login_sessions where person_id = ${personId}`
      assert.lengthOf(yield* items, 3)
      const block = found.find(({ code }) => code === "codes_blocked")
      assert.deepStrictEqual(block?.["subject"], { id: "+25078811", name: "+25078811" })
      assert.include(String(block?.["message"]), "begin with +25078811 are")
      assert.isString(block?.["since"])
      yield* request("DELETE", "/v1/verify/blocks/%2B25078811", { key })
      yield* request("DELETE", `/v1/api-keys/${String(made.at("data", "id"))}`, { key })
      yield* sql`insert into passkeys (person_id, credential_id, public_key, counter, name)
        values (${personId}, ${`credential-${personId}`}::text::bytea, 'k', 0, 'Phone')`
      assert.deepStrictEqual(yield* items, [])
    }))
})

layer(Service.layer({ env: { PAUSED: "true" } }), { excludeTestServices: true })(
  "GET /v1/account/attention while nothing is sent",
  (it) => {
    it.effect("names the channels whose oldest message or code waits too long, and since when", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount()
        const late = Effect.map(
          request("GET", "/v1/account/attention", { key }),
          ({ at }) =>
            (at("data") as ReadonlyArray<{ readonly code: string; readonly subject: { readonly id: string } }>)
              .filter(({ code }) => code.endsWith("_late")).map(({ code, subject }) => `${code} ${subject.id}`)
        )
        const post = (path: string, json: unknown) =>
          Effect.map(request("POST", path, { key, json }), ({ status, text }) => assert.isBelow(status, 300, text))
        const send_at = DateTime.formatIso(DateTime.add(yield* live(DateTime.now), { hours: 1 }))
        yield* post("/v1/email/send", { to: "ada@example.com", subject: "Hi", text: "Hi" })
        yield* post("/v1/email/send", { to: "ada@example.com", subject: "Later", text: "Hi", send_at })
        yield* post("/v1/sms/send", { to: "+250788123456", content: "Hi" })
        yield* post("/v1/sms/send", { to: "+250788123456", content: "Later", send_at })
        yield* post("/v1/verify/send", { to: "+250788123457" })
        const older = (seconds: number) =>
          Effect.gen(function*() {
            const age = sql`now() - ${seconds}::integer * interval '1 second'`
            yield* sql`update email_messages set created_at = ${age} where account_id = ${accountId}`
            yield* sql`update messages set created_at = ${age} where account_id = ${accountId}`
          })
        yield* older(1)
        assert.deepStrictEqual(yield* late, [])
        yield* older(30)
        assert.deepStrictEqual(yield* late, ["codes_late sms"])
        yield* older(90)
        assert.sameMembers(yield* late, ["codes_late sms", "queue_late email", "queue_late sms"])
      }))
  }
)

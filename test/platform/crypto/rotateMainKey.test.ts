import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { sealedColumns } from "../../../src/app/server/sealedColumns.ts"
import { dkimKeyColumn, sealedDkimKey } from "../../../src/email-domains/EmailDomains.ts"
import { MacKeys } from "../../../src/platform/crypto/MacKeys.ts"
import { countForeign, rotateMainKey } from "../../../src/platform/crypto/rotateMainKey.ts"
import { nameOf, Vault } from "../../../src/platform/crypto/Vault.ts"
import { WebhookId } from "../../../src/values/Ids.ts"
import * as WebhookSecret from "../../../src/webhooks/endpoint/WebhookSecret.ts"
import { makeAccount } from "../../support/Service.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const keyOf = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))

const under = (key: number, previous?: number) =>
  Vault.layer(keyOf(key), previous === undefined ? undefined : keyOf(previous))

const columns = [...sealedColumns.columns, sealedColumns.last]

/** Counts the values that are not under this key. */
const foreignTo = (key: number) => Effect.provide(countForeign(columns), under(key))

const rotate = <E>(report: (column: string, count: number) => Effect.Effect<void, E>) =>
  Effect.provide(rotateMainKey(sealedColumns, report), under(2, 1))

const noReport = () => Effect.void

/** A database under key 1 with webhooks, half of them with a previous secret, stored responses and domains. */
const filled = Effect.fnUntraced(function*(count: number) {
  const sql = yield* SqlClient.SqlClient
  const { seal } = yield* Vault
  yield* Effect.provide(MacKeys, MacKeys.layer)
  const { accountId } = yield* makeAccount()
  const bytes = (text: string) => Buffer.from(text)
  for (let id = 1; id <= count; id++) {
    const what = WebhookSecret.purpose(WebhookId.make(id))
    const previous = id % 2 === 0 ? seal(what, bytes(`previous ${id}`)) : null
    yield* sql`insert into webhooks (id, account_id, url, events, secret, secret_prefix, previous_secret,
        previous_secret_until) overriding system value
      values (${id}, ${accountId}, 'https://example.com/', '{}', ${seal(what, bytes(`secret ${id}`))}, 'whsec_',
        ${previous}, case when ${previous !== null} then now() end)`
  }
  for (let key = 0; key < 3; key++) {
    const scope = `key:1 POST /v1/webhooks "[${key}]"`
    yield* sql`insert into idempotency_records (scope, key, fingerprint, status, headers, body)
      values (${scope}, 'a', '', 201, '{}', ${seal(`idempotency_records:${scope}:a`, bytes("answer"))})`
  }
  const domain = "sender.example"
  yield* sql`insert into email_domains (account_id, domain, dkim_private_key)
    values (${accountId}, ${domain}, ${seal(sealedDkimKey(accountId, domain), bytes("pem"))}),
      (${accountId}, 'none.example', null)`
}, Effect.provide(under(1)))

/** All webhook secrets, opened under key 2 alone. */
const secrets = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { open } = yield* Vault
  const rows = yield* sql<
    { readonly id: number; readonly secret: Uint8Array; readonly previous_secret: Uint8Array | null }
  >`select id, secret, previous_secret from webhooks order by id`
  return yield* Effect.forEach(
    rows,
    ({ id, previous_secret, secret }) =>
      Effect.forEach(
        [secret, ...(previous_secret === null ? [] : [previous_secret])],
        (sealed) =>
          Effect.map(open(WebhookSecret.purpose(WebhookId.make(id)), sealed), (plain) => Buffer.from(plain).toString())
      )
  )
}).pipe(Effect.provide(under(2)))

const expected = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const id = index + 1
    return id % 2 === 0 ? [`secret ${id}`, `previous ${id}`] : [`secret ${id}`]
  })

layer(TestDatabase.layer, { excludeTestServices: true })("rotateMainKey", (it) => {
  it.effect("continues where it was stopped and leaves nothing under the previous key", () =>
    Effect.gen(function*() {
      const count = 1_100
      yield* filled(count)
      const total = count * 1.5 + 3 + 1 + 1 + 1
      assert.strictEqual(yield* foreignTo(1), 0)
      const stopped = yield* Effect.flip(rotate((column, done) =>
        column === "webhooks.secret" && done === 1_000 ? Effect.fail("stopped" as const) : Effect.void
      ))
      assert.strictEqual(stopped, "stopped")
      assert.strictEqual(yield* foreignTo(2), total - 1_000 - 1)
      // While it is stopped, both keys together open everything.
      assert.match((yield* Effect.flip(secrets)).message, /ENCRYPTION_KEY_PREVIOUS/)
      const seen = new Map<string, number>()
      const rest = yield* rotate((column, done) =>
        Effect.sync(() => seen.set(column, done))
      )
      assert.strictEqual(rest, total - 1_000 - 1)
      assert.deepStrictEqual([...seen], [
        ["webhooks.secret", 100],
        ["webhooks.previous_secret", 550],
        ["email_domains.dkim_private_key", 1],
        ["idempotency_records.body", 3],
        ["main_key_probe.sealed", 1]
      ])
      assert.strictEqual(yield* foreignTo(2), 0)
      assert.deepStrictEqual(yield* secrets, expected(count))
      assert.strictEqual(yield* rotate(noReport), 0)
    }))
})

layer(TestDatabase.layer, { excludeTestServices: true })("rotateMainKey with running nodes", (it) => {
  it.effect("skips values that nodes change meanwhile, and finds values that they move", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* filled(3)
      let moved = false
      // A node rotates that webhook's secret between two chunks, and moves it to a column that comes later.
      const total = yield* rotate(() =>
        moved ? Effect.void : Effect.gen(function*() {
          moved = true
          const { seal } = yield* Vault
          const fresh = seal(WebhookSecret.purpose(WebhookId.make(1)), Buffer.from("fresh"))
          yield* Effect.orDie(
            sql`update webhooks set previous_secret = secret, previous_secret_until = now(), secret = ${fresh} where id = 1`
          )
        }).pipe(Effect.provide(under(2, 1)))
      )
      assert.isAbove(total, 0)
      assert.deepStrictEqual(yield* secrets, [["fresh", "secret 1"], ["secret 2", "previous 2"], ["secret 3"]])
      assert.strictEqual(yield* foreignTo(2), 0)
    }))
})

layer(TestDatabase.layer, { excludeTestServices: true })("rotateMainKey of a table with a composite key", (it) => {
  it.effect("passes every row once, whatever characters its key has", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* filled(0)
      const { seal } = yield* Effect.provide(Vault, under(1))
      for (let n = 0; n < 1_200; n++) {
        const name = `${n % 2 === 0 ? "\"" : "A"}${n}`
        yield* sql`insert into idempotency_records (scope, key, fingerprint, status, headers, body)
          values ('s', ${name}, '', 201, '{}', ${seal(`idempotency_records:s:${name}`, Buffer.from("answer"))})`
      }
      const seen: Array<number> = []
      yield* rotate((column, count) =>
        Effect.sync(() => column === "idempotency_records.body" ? seen.push(count) : undefined)
      )
      assert.deepStrictEqual(seen, [500, 1_000, 1_203])
    }))
})

layer(TestDatabase.layer, { excludeTestServices: true })("rotateMainKey with a locked row", (it) => {
  it.effect("skips the row and rewraps it in a later pass", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* filled(3)
      const locked = yield* Deferred.make<void>()
      const free = yield* Deferred.make<void>()
      const node = yield* Effect.forkChild(sql.withTransaction(
        sql`update webhooks set failure_count = 7 where id = 2`.pipe(
          Effect.andThen(Deferred.succeed(locked, undefined)),
          Effect.andThen(Deferred.await(free))
        )
      ))
      yield* Deferred.await(locked)
      const seen: Array<string> = []
      yield* rotate((column, count) => {
        seen.push(`${column} ${count}`)
        return column === "idempotency_records.body"
          ? Effect.andThen(Deferred.succeed(free, undefined), Effect.ignore(Fiber.join(node)))
          : Effect.void
      })
      assert.includeMembers(seen, ["webhooks.secret 2", "webhooks.secret 1"])
      assert.strictEqual(yield* foreignTo(2), 0)
      assert.deepStrictEqual(yield* secrets, expected(3))
    }))
})

layer(TestDatabase.layer, { excludeTestServices: true })("rotateMainKey with an unreadable value", (it) => {
  it.effect("names the value, rotates all others, and fails until the value is gone", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* filled(2)
      yield* sql`update webhooks set secret = (select previous_secret from webhooks where id = 2) where id = 1`
      const refused = yield* Effect.flip(rotate(noReport))
      assert.match(refused.message, /opens webhooks\.secret \[1\]\. All other values are rotated/)
      assert.strictEqual(yield* foreignTo(2), 2)
      const probe = yield* Effect.provide(countForeign([sealedColumns.last]), under(2))
      assert.strictEqual(probe, 1)
      yield* sql`delete from webhooks where id = 1`
      assert.strictEqual(yield* rotate(noReport), 1)
      assert.strictEqual(yield* foreignTo(2), 0)
    }))
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "rotateMainKey with a node that seals under the previous key",
  (it) => {
    it.effect("fails and says what to do", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* filled(1)
        let next = 2
        const refused = yield* Effect.flip(rotate((column) =>
          column !== nameOf(dkimKeyColumn) && column !== "webhooks.secret" ? Effect.void : Effect.gen(function*() {
            const { seal } = yield* Vault
            const id = next++
            const secret = seal(WebhookSecret.purpose(WebhookId.make(id)), Buffer.from("s"))
            yield* Effect.orDie(sql`insert into webhooks (id, account_id, url, events, secret, secret_prefix)
            overriding system value select ${id}, id, '', '{}', ${secret}, '' from accounts`)
          }).pipe(Effect.provide(under(1)))
        ))
        assert.match(refused.message, /^A node still seals under another key.*webhooks\.secret.*Restart every node/)
      }))
  }
)

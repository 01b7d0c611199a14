import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts, type NewAccount } from "../../src/accounts/Accounts.ts"
import { Audit } from "../../src/accounts/Audit.ts"
import { LoginSessions } from "../../src/accounts/LoginSessions.ts"
import { EmailAddress } from "../../src/values/EmailAddress.ts"
import { AccountId } from "../../src/values/Ids.ts"
import { live } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const password = Redacted.make("correct horse battery")

const person = (email: string, more: Partial<NewAccount> = {}): NewAccount => ({
  name: "Ada",
  email: Schema.decodeSync(EmailAddress)(email),
  password,
  plan: "starter",
  trial: false,
  ...more
})

layer(
  Layer.merge(Accounts.layer, LoginSessions.layer).pipe(
    Layer.provide(Audit.layer),
    Layer.provideMerge(TestDatabase.layer)
  )
)("Accounts", (it) => {
  it.effect("an email address belongs to one account, regardless of case", () =>
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const account = yield* accounts.create(person("Ada@example.com"))
      const taken = yield* Effect.flip(accounts.create(person("aDA@EXAMPLE.com")))
      assert.strictEqual(taken._tag, "EmailTaken")
      assert.strictEqual((yield* accounts.authenticate("ADA@example.COM", password)).account.id, account.id)
    }))

  it.effect("twenty concurrent registrations of one address create one account", () =>
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const attempts = Effect.result(accounts.create(person("twins@example.com")))
      const results = yield* Effect.all(Array.from({ length: 20 }, () => attempts), { concurrency: "unbounded" })
      assert.strictEqual(results.filter(({ _tag }) => _tag === "Success").length, 1)
    }))

  it.effect("a trial lasts three days and ends when a plan is set", () =>
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const sql = yield* SqlClient.SqlClient
      const account = yield* accounts.create(person("trial@example.com", { trial: true }))
      assert.strictEqual(account.status, "trial")
      const [row] = yield* sql`select trial_ends_at - created_at = interval '3 days' as three from accounts
        where id = ${account.id}`
      assert.deepStrictEqual({ ...row }, { three: true })
      yield* sql`update accounts set trial_ends_at = now() where id = ${account.id}`
      const over = yield* Effect.flatMap(accounts.find(account.id), Effect.fromOption)
      assert.strictEqual(over.status, "trial_over")
      const paying = yield* Effect.flatMap(accounts.setPlan(account.id, "growth"), Effect.fromOption)
      assert.deepInclude(paying, { status: "active", plan: "growth", trial_ends_at: null })
    }))

  it.effect("the audit log records each change of plan, and no failed one", () =>
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* accounts.create(person("plan@example.com"))
      const unknown = AccountId.make(2_000_000_000)
      yield* accounts.setPlan(id, "business")
      yield* accounts.setPlan(id, "growth")
      assert.isTrue(Option.isNone(yield* accounts.setPlan(unknown, "growth")))
      const rows = yield* sql`select actor, data from audit_entries
        where account_id in (${id}, ${unknown}) and action = 'plan.changed' order by id`
      assert.deepStrictEqual(rows.map((row) => ({ ...row })), [
        { actor: "system", data: { plan: "business" } },
        { actor: "system", data: { plan: "growth" } }
      ])
    }))

  it.effect("a password is stored as an argon2id hash with 19 MiB, two passes, one lane and a unique salt", () =>
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const sql = yield* SqlClient.SqlClient
      yield* accounts.create(person("one@example.com"))
      yield* accounts.create(person("two@example.com"))
      const rows = yield* sql`select password_hash from accounts where email in ('one@example.com', 'two@example.com')`
      const hashes = rows.map((row) => String(row["password_hash"]))
      for (const hash of hashes) {
        assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
      }
      assert.strictEqual(new Set(hashes).size, 2)
    }))

  it.effect("a password matches in any Unicode composition, and no other password matches", () =>
    Effect.gen(function*() {
      const accounts = yield* Accounts
      yield* accounts.create(person("zoe@example.com", { password: Redacted.make("zoë's long password") }))
      yield* accounts.authenticate("zoe@example.com", Redacted.make("zoe\u0308's long password"))
      for (const wrong of ["zoe's long password", "ZOË'S LONG PASSWORD", "zoë's long password ", ""]) {
        const refused = yield* Effect.flip(accounts.authenticate("zoe@example.com", Redacted.make(wrong)))
        assert.strictEqual(refused._tag, "InvalidCredentials")
      }
    }))

  it.effect("an account without a password refuses every login", () =>
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const { password: _, ...keysOnly } = person("keys-only@example.com")
      yield* accounts.create(keysOnly)
      for (const tried of ["", "null", "undefined"]) {
        const refused = yield* Effect.flip(accounts.authenticate("keys-only@example.com", Redacted.make(tried)))
        assert.strictEqual(refused._tag, "InvalidCredentials")
      }
    }))

  it.effect("a login takes as long for an unknown address as for a wrong password", () =>
    Effect.gen(function*() {
      const accounts = yield* Accounts
      yield* accounts.create(person("known@example.com"))
      const quickest = (email: string) =>
        live(Effect.gen(function*() {
          let best = Infinity
          for (let i = 0; i < 5; i++) {
            const startedAt = yield* Clock.currentTimeNanos
            yield* Effect.flip(accounts.authenticate(email, Redacted.make("wrong horse battery")))
            best = Math.min(best, Number((yield* Clock.currentTimeNanos) - startedAt))
          }
          return best
        }))
      const [known, unknown] = [yield* quickest("known@example.com"), yield* quickest("unknown@example.com")]
      // Without a password to check it would be thousands of times as fast. A busy machine varies by a small factor.
      assert.isTrue(known / unknown > 0.1 && known / unknown < 10, `${known} ns, ${unknown} ns`)
    }))

  it.effect("a login token is stored as a hash only, for 30 days", () =>
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const sessions = yield* LoginSessions
      const sql = yield* SqlClient.SqlClient
      const account = yield* accounts.create(person("session@example.com"))
      const { token } = yield* sessions.open(account.id)
      const rows = yield* sql`select token_hash = sha256(${Buffer.from(Redacted.value(token))}) as hashed,
        expires_at - created_at = interval '30 days' as month from login_sessions where account_id = ${account.id}`
      assert.deepStrictEqual(rows.map((row) => ({ ...row })), [{ hashed: true, month: true }])
    }))
})

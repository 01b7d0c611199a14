import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/accounts/Accounts.ts"
import { Audit } from "../../src/accounts/Audit.ts"
import { firstAddress, FirstOperator } from "../../src/accounts/FirstOperator.ts"
import { People } from "../../src/people/People.ts"
import { SetupLinks } from "../../src/people/SetupLinks.ts"
import { makeAccount } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const Subject = FirstOperator.layer.pipe(
  Layer.provide(Accounts.layer.pipe(Layer.provide(Audit.layer))),
  Layer.provideMerge([People.layer, SetupLinks.layer]),
  Layer.provideMerge(TestDatabase.layer)
)

const password = "correct horse battery"

/** Sets the service up for a person with this address, and returns the account that they own then. */
const setsUp = Effect.fnUntraced(function*(email: string) {
  const operators = yield* FirstOperator
  const token = yield* (yield* SetupLinks).make
  const person = yield* operators.create(token, { name: "You", email, password, locale: "fr", timezone: "UTC" })
  const sql = yield* SqlClient.SqlClient
  const [owned] = yield* sql`select p.is_operator, a.id::integer, a.email, a.password_hash is not null as has_password
    from people p join accounts a on a.id = p.account_id where p.id = ${person}`
  return owned
})

layer(Subject, { excludeTestServices: true })("FirstOperator", (it) => {
  it.effect("a setup link gives the first account, or the one with the address of the operator, its password, and no other", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const row = (accountId: number) => sql`select email, password_hash, locale from accounts where id = ${accountId}`

      // The oldest account is a customer's, and has no password.
      const customer = yield* makeAccount()
      const before = yield* row(customer.accountId)
      const made = yield* setsUp("ops@example.com")
      assert.deepInclude(made, { is_operator: true, email: "ops@example.com", has_password: true })
      assert.notStrictEqual(made?.["id"], customer.accountId)
      assert.deepStrictEqual(yield* row(customer.accountId), before)

      const first = yield* makeAccount({ email: firstAddress })
      const own = yield* makeAccount({ email: "you@example.com" })
      const expected = { is_operator: true, has_password: true }
      assert.deepStrictEqual(yield* setsUp("You@example.com"), {
        ...expected,
        id: own.accountId,
        email: "You@example.com"
      })
      assert.deepStrictEqual(yield* setsUp("me@example.com"), {
        ...expected,
        id: first.accountId,
        email: "me@example.com"
      })
    }))

  it.effect("a setup link works for 24 hours", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { isValid, make } = yield* SetupLinks
      const token = yield* make
      const ages = (by: string) => sql`update setup_links set expires_at = expires_at - ${by}::interval`
      yield* ages("23 hours 59 minutes")
      assert.isTrue(yield* isValid(token))
      yield* ages("1 minute")
      assert.isFalse(yield* isValid(token))
    }))

  it.effect("an account that has a password is the operator's if they know the password", () =>
    Effect.gen(function*() {
      const known = yield* makeAccount({ email: "known@example.com", password })
      assert.deepInclude(yield* setsUp("known@example.com"), { is_operator: true, id: known.accountId })
      yield* makeAccount({ email: "other@example.com", password: "another horse battery" })
      const refused = yield* Effect.flip(setsUp("other@example.com"))
      assert.deepInclude(refused, { _tag: "ValidationFailed", param: "password" })
    }))
})

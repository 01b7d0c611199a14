import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../src/accounts/Audit.ts"
import { LoginSessions } from "../../src/accounts/LoginSessions.ts"
import { makeAccount } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const Subject = LoginSessions.layer.pipe(Layer.provide(Audit.layer), Layer.provideMerge(TestDatabase.layer))

layer(Subject, { excludeTestServices: true })("LoginSessions", (it) => {
  it.effect("opens a session that ends after 30 days", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { open } = yield* LoginSessions
      const { accountId } = yield* makeAccount()
      const { expires_at } = yield* open(accountId)
      const [row] = yield* sql`select expires_at, expires_at - created_at = interval '30 days' as is_right
        from login_sessions where account_id = ${accountId}`
      assert.deepStrictEqual(row, { expires_at, is_right: true })
    }))
})

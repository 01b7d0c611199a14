/** Logins that are in flight while another person sets the password by mail. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import * as Tokens from "../../src/platform/crypto/Tokens.ts"
import type { AccountId } from "../../src/values/Ids.ts"
import { ownerOf } from "../support/consolePeople.ts"
import { lockWaits } from "../support/lockWaits.ts"
import { formsOf, plainBrowser } from "../support/plainForms.ts"
import { type Answer, eventually, makeAccount, Service } from "../support/Service.ts"
import { transaction } from "../support/TestDatabase.ts"

const password = "correct horse battery staple"

const page = "/console/sign-in"

const formNamed = (markup: string, name: string) =>
  Effect.orDie(Effect.fromNullishOr(formsOf(page, markup).find((form) => form.name === name)))

/** What the sign-in page answers to an address and its password. */
const signIn = (email: string) =>
  Effect.gen(function*() {
    const browser = plainBrowser("")
    const form = yield* formNamed((yield* browser.open(page)).text, "sign-in")
    return yield* browser.send(form, { email, password })
  })

const login = (email: string) =>
  Effect.flatMap(Service, ({ request }) => request("POST", "/v1/auth/login", { json: { email, password } }))

/** Makes the token of a mail, and sets another password with it. */
const resetOf = (accountId: AccountId) =>
  Effect.gen(function*() {
    const { request } = yield* Service
    const sql = yield* SqlClient.SqlClient
    const token = Tokens.mint("rt_live_")
    yield* Effect.orDie(sql`insert into password_resets (token_hash, account_id, expires_at)
      values (${Tokens.hash(token)}, ${accountId}, now() + interval '1 hour')`)
    const secret = "the owner's horse battery"
    const json = { token, password: secret, password_confirmation: secret }
    return { reset: request("POST", "/v1/auth/password/reset", { json }) }
  })

/** Waits until a statement of the node waits for the test's transaction. */
const blocked = eventually(lockWaits, ({ length }) => length > 0)

/** The node's statements wait for the test's transactions. */
const env = { STATEMENT_TIMEOUT_SECONDS: "60" }

layer(Service.layer({ env }), { excludeTestServices: true })("logins in flight", (it) => {
  const ways: ReadonlyArray<readonly [name: string, enter: (email: string) => Effect.Effect<Answer, never, Service>]> =
    [
      ["a login", login],
      ["a sign-in to the console", signIn]
    ]
  for (const [name, enter] of ways) {
    it.effect(`${name} with the right password is refused if another one is set before it ends`, () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { accountId, email } = yield* makeAccount({ password })
        const { personId } = yield* ownerOf(accountId)
        const entering = yield* transaction(Effect.gen(function*() {
          yield* sql`select from accounts where id = ${accountId} for no key update`
          const fiber = yield* Effect.forkDetach(enter(email))
          yield* blocked
          yield* sql`update accounts set password_hash = 'another one' where id = ${accountId}`
          yield* sql`delete from login_sessions where account_id = ${accountId} or person_id = ${personId}`
          return fiber
        }))
        assert.strictEqual((yield* Fiber.join(entering)).status, 401)
        const left = sql`select from login_sessions where account_id = ${accountId} or person_id = ${personId}`
        assert.lengthOf(yield* left, 0)
      }).pipe(Effect.orDie))
  }

  it.effect("a password that is set by mail ends the session of a login that was about to commit", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount({ password })
      const { reset } = yield* resetOf(accountId)
      const resetting = yield* transaction(Effect.gen(function*() {
        yield* sql`select from accounts where id = ${accountId} for share`
        const fiber = yield* Effect.forkDetach(reset)
        yield* blocked
        yield* sql`insert into login_sessions (token_hash, account_id, expires_at)
          values ('\\x01', ${accountId}, now() + interval '30 days')`
        return fiber
      }))
      assert.strictEqual((yield* Fiber.join(resetting)).status, 200)
      assert.lengthOf(yield* sql`select from login_sessions where account_id = ${accountId}`, 0)
    }).pipe(Effect.orDie))

  it.effect("the second step of a sign-in ends when another password is set", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId, email } = yield* makeAccount({ password })
      const { personId } = yield* ownerOf(accountId)
      yield* sql`insert into passkeys (person_id, credential_id, public_key, counter, name)
        values (${personId}, ${new TextEncoder().encode(`credential of ${personId}`)}, '\\x00', 0, 'Phone')`
      yield* sql`insert into recovery_codes (person_id, code_hash) values
        (${personId}, ${Tokens.hash("recovery:aaaaaaaaaa")}), (${personId}, ${Tokens.hash("recovery:bbbbbbbbbb")})`
      const form = yield* formNamed((yield* signIn(email)).text, "code")
      const enters = (code: string) => plainBrowser("").send(form, { code })
      assert.include((yield* enters("aaaaa-aaaaa")).text, "Overview")
      assert.strictEqual((yield* (yield* resetOf(accountId)).reset).status, 200)
      const late = yield* enters("bbbbb-bbbbb")
      assert.strictEqual(late.status, 422)
      assert.include(late.text, "This took too long.")
    }).pipe(Effect.orDie))
})

/** The ways into the console, and what wrong guesses do there. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ownerOf } from "../support/consolePeople.ts"
import { formsOf, plainBrowser } from "../support/plainForms.ts"
import { makeAccount, Service } from "../support/Service.ts"

const password = "correct horse battery staple"

/** A person with a passkey, whose password alone proves too little. */
const guarded = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const account = yield* makeAccount({ password })
  const { personId } = yield* ownerOf(account.accountId)
  yield* sql`insert into passkeys (person_id, credential_id, public_key, counter, name)
    values (${personId}, ${new TextEncoder().encode(`credential of ${personId}`)}, '\\x00', 0, 'Phone')`
  return { ...account, personId }
}).pipe(Effect.orDie)

const signInPage = "/console/sign-in"

const browser = plainBrowser("")

const formNamed = (markup: string, name: string) =>
  Effect.orDie(Effect.fromNullishOr(formsOf(signInPage, markup).find((form) => form.name === name)))

/** What the sign-in page answers to an address and a password. */
const enters = (email: string, secret = password) =>
  Effect.gen(function*() {
    const form = yield* formNamed((yield* browser.open(signInPage)).text, "sign-in")
    return yield* browser.send(form, { email, password: secret })
  })

layer(Service.layer(), { excludeTestServices: true })("signing in to the console", (it) => {
  it.effect("an address with a NUL is answered as one without an account", () =>
    Effect.gen(function*() {
      yield* makeAccount({ password })
      assert.strictEqual((yield* enters("ada@example.com\0")).status, 401)
      const page = "/console/password/forgot"
      const form = formsOf(page, (yield* browser.open(page)).text).find(({ name }) => name === "forgot")
      const asked = yield* browser.send(yield* Effect.orDie(Effect.fromNullishOr(form)), { email: "ada@example.com\0" })
      assert.strictEqual(asked.status, 200)
    }))

  it.effect("an address with a letter that a database lowers to ASCII is not the account's", () =>
    Effect.gen(function*() {
      yield* makeAccount({ email: "inside.console@example.com", password })
      assert.strictEqual((yield* enters("\u0130nside.console@example.com")).status, 401)
      assert.strictEqual((yield* enters("INSIDE.console@example.com")).status, 200)
    }))

  it.effect("of fifty wrong codes at the same time, five are checked and the others wait", () =>
    Effect.gen(function*() {
      const { email } = yield* guarded
      const form = yield* formNamed((yield* enters(email)).text, "code")
      const guesses = Array.from({ length: 50 }, (_, index) => `aaaaa-${String.fromCharCode(97 + index % 26)}aaaa`)
      const answers = yield* Effect.forEach(guesses, (code) => browser.send(form, { code }), {
        concurrency: "unbounded"
      })
      const count = (status: number) => answers.filter((answer) => answer.status === status).length
      assert.deepStrictEqual([count(401), count(429)], [5, 45])
    }))
})

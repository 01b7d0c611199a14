/** People who are signed in to the console, made directly in the database. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Tokens from "../../src/platform/crypto/Tokens.ts"
import type { AccountId } from "../../src/values/Ids.ts"
import type { Role } from "../../src/values/Permission.ts"

/** A new sign-in of a person, and the `Cookie` header of its browser. */
export const signInOf = (personId: number) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const token = Tokens.mint("lt_live_")
    yield* sql`update people set last_sign_in_at = now() where id = ${personId}`
    yield* sql`insert into login_sessions (token_hash, person_id, methods, proved_at, renewed_at, expires_at)
      values (${Tokens.hash(token)}, ${personId}, '{password}', now(), now(), now() + interval '1 day')`
    return { personId, token, cookie: `console=${token}` }
  })

/** The owner whom an account's row describes. */
export const ownerOf = (accountId: AccountId) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql`with made as (
        insert into people (account_id) values (${accountId}) on conflict do nothing returning id
      )
      insert into memberships (account_id, person_id, role) select ${accountId}, id, 'owner' from made`
    const [person] = yield* sql`select id from people where account_id = ${accountId}`
    return yield* signInOf(Number(person?.["id"]))
  }).pipe(Effect.orDie)

/** A person with a role in an account. */
export const signedInAs = (accountId: AccountId, role: Role) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const [person] = yield* sql`insert into people (name, email, locale, timezone)
      values (${`The ${role}`}, ${`${Tokens.mint("p").slice(-12)}@people.example`}, 'en', 'UTC') returning id`
    const personId = Number(person?.["id"])
    yield* sql`insert into memberships (account_id, person_id, role) values (${accountId}, ${personId}, ${role})`
    return yield* signInOf(personId)
  }).pipe(Effect.orDie)

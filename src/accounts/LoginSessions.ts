import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { loginPrefix } from "../people/SignIns.ts"
import * as Tokens from "../platform/crypto/Tokens.ts"
import { Database } from "../platform/database/Database.ts"
import * as Query from "../platform/database/Query.ts"
import { NotFound } from "../platform/http/ApiErrors.ts"
import { RequestContext } from "../platform/http/RequestContext.ts"
import { AccountId, LoginSessionId } from "../values/Ids.ts"
import { Timestamp } from "../values/Timestamp.ts"
import { LoginSession } from "./Account.ts"
import { InvalidCredentials } from "./AccountErrors.ts"
import { Audit } from "./Audit.ts"

/** The most login sessions of an account. The next login ends the oldest one, so that the list stays short. */
const maxSessions = 100

/** A new login session with its token, which is not stored. */
export interface OpenedSession {
  readonly token: Redacted.Redacted
  readonly expires_at: Timestamp
}

/** The caller whose sessions are read or ended. `current` is undefined for an API key. */
export interface SessionOwner {
  readonly accountId: AccountId
  readonly current: LoginSessionId | undefined
}

const Owner = Schema.Struct({ accountId: AccountId, current: Schema.UndefinedOr(LoginSessionId) })

const makeRepo = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  /** Waits for a change of the password, which ends the sessions that it finds. */
  const insert = Query.findOneOption({
    Request: Schema.Struct({
      tokenHash: Schema.Uint8Array,
      accountId: AccountId,
      passwordHash: Schema.UndefinedOr(Schema.String),
      address: Schema.String,
      agent: Schema.String
    }),
    Result: Schema.Struct({ id: LoginSessionId, expires_at: Timestamp }),
    execute: ({ accountId, address, agent, passwordHash, tokenHash }) =>
      sql`insert into login_sessions (token_hash, account_id, expires_at, client_address, user_agent)
        select ${tokenHash}::bytea, id, now() + interval '30 days', nullif(${address}, ''), nullif(${agent}, '')
        from accounts where id = ${accountId}
          and (${passwordHash === undefined} or password_hash = ${passwordHash ?? null}) for share
        returning id, expires_at`
  })

  const trim = (accountId: AccountId) =>
    Query.run(sql`delete from login_sessions where id in (
      select id from login_sessions where account_id = ${accountId} order by id desc offset ${maxSessions})`)

  const list = Query.findAll({
    Request: Owner,
    Result: LoginSession,
    execute: ({ accountId, current }) =>
      sql`select id, created_at, last_used_at, expires_at, client_address, user_agent,
          id is not distinct from ${current ?? null}::bigint as is_current
        from login_sessions where account_id = ${accountId} and expires_at > now() order by id desc`
  })

  const remove = (accountId: AccountId, id: LoginSessionId) =>
    Query.rowCount(sql`delete from login_sessions where id = ${id} and account_id = ${accountId} returning 1`)

  const removeOthers = ({ accountId, current }: SessionOwner) =>
    Query.rowCount(sql`delete from login_sessions
      where account_id = ${accountId} and id is distinct from ${current ?? null}::bigint returning 1`)

  return { insert, trim, list, remove, removeOthers }
})

/** The login sessions of accounts. */
export class LoginSessions extends Context.Service<LoginSessions, {
  /**
   * Opens a session of 30 days. Remembers the address and the program of the request, for the owner. Fails if the account has
   * another password than the one that was checked, because who changed it may have ended all sessions.
   */
  readonly open: (accountId: AccountId, passwordHash?: string) => Effect.Effect<OpenedSession, InvalidCredentials>
  /** Newest first, without expired ones. */
  readonly list: (owner: SessionOwner) => Effect.Effect<ReadonlyArray<LoginSession>>
  /** Once it returns, no node accepts the session's token. */
  readonly end: (accountId: AccountId, id: LoginSessionId) => Effect.Effect<void, NotFound>
  /** Ends all sessions but the caller's own. An API key ends all of them. */
  readonly endOthers: (owner: SessionOwner) => Effect.Effect<void>
}>()("messaging-service/accounts/LoginSessions") {
  static readonly layer = Layer.effect(
    LoginSessions,
    Effect.gen(function*() {
      const { transaction } = yield* Database
      const audit = yield* Audit
      const repo = yield* makeRepo

      const open = Effect.fn("LoginSessions.open")(
        function*(accountId: AccountId, passwordHash?: string) {
          const token = Tokens.mint(loginPrefix)
          const { clientAddress: address, userAgent: agent } = yield* RequestContext
          const { expires_at } = yield* transaction(Effect.gen(function*() {
            const opened = yield* repo.insert({
              tokenHash: Tokens.hash(token),
              accountId,
              passwordHash,
              address,
              agent
            })
            if (Option.isNone(opened)) return yield* new InvalidCredentials()
            yield* repo.trim(accountId)
            yield* audit.record({ accountId, action: "login", target: `session ${opened.value.id}` })
            return opened.value
          }))
          return { token: Redacted.make(token), expires_at }
        }
      )

      const end = Effect.fn("LoginSessions.end")(function*(accountId: AccountId, id: LoginSessionId) {
        yield* transaction(Effect.gen(function*() {
          if ((yield* repo.remove(accountId, id)) === 0) return yield* new NotFound()
          yield* audit.record({ accountId, action: "session.ended", target: `session ${id}` })
        }))
      })

      const endOthers = Effect.fn("LoginSessions.endOthers")(function*(owner: SessionOwner) {
        yield* transaction(Effect.gen(function*() {
          const count = yield* repo.removeOthers(owner)
          if (count === 0) return
          yield* audit.record({ accountId: owner.accountId, action: "session.ended", data: { count } })
        }))
      })

      return LoginSessions.of({ open, end, endOthers, list: (owner) => repo.list(owner) })
    })
  )
}

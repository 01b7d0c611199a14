import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { HttpRouter } from "effect/http"
import { SqlClient } from "effect/sql"
import { timingSafeEqual } from "node:crypto"
import { MacKeys } from "../platform/crypto/MacKeys.ts"
import { shortMac } from "../platform/crypto/Vault.ts"
import { Database } from "../platform/database/Database.ts"
import * as Query from "../platform/database/Query.ts"
import { RateLimitExceeded } from "../platform/http/ApiErrors.ts"
import { html } from "../platform/http/html.ts"
import { PublicUrl } from "../platform/http/PublicUrl.ts"
import * as ReaderPage from "../platform/http/ReaderPage.ts"
import { RequestContext } from "../platform/http/RequestContext.ts"
import { AccountId } from "../values/Ids.ts"
import { TokenExpired } from "./AccountErrors.ts"
import { Audit } from "./Audit.ts"
import { hashOf } from "./LoginGuesses.ts"
import { SealedNotices } from "./notices/SealedNotices.ts"
import { addressConfirmationNotice } from "./notices/securityNotices.ts"

/** The most mails with a token that an address receives in an hour, because it may be a stranger's. */
const maxPerHour = 5

const validSeconds = 3 * 24 * 3600

const macLength = 24

const tokenForm = /^ct_live_(\d{1,15})-(\d{10})-([A-Za-z0-9_-]{32})$/

const makeRepo = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const oldest = sql.literal(`sent_at[${maxPerHour}]`)
  return {
    /**
     * Nothing unless the account awaits its confirmation. Locks the row, so that mails to its address, which no other account
     * has, are counted one after the other.
     */
    waiting: Query.findOneOption({
      Request: AccountId,
      Result: Schema.Struct({ email: Schema.String }),
      execute: (id) =>
        sql`select email from accounts where id = ${id} and awaits_confirmation and deleted_at is null for no key update`
    }),
    /** The seconds until another mail may go to the address. Nothing if it may go now. */
    wait: Query.findOneOption({
      Request: Schema.String,
      Result: Schema.Struct({ seconds: Schema.Int }),
      execute: (email) =>
        sql`select ceil(extract(epoch from ${oldest} + interval '1 hour' - now()))::integer as seconds
          from confirmation_mails
          where email_hash = ${hashOf(email.toLowerCase())} and ${oldest} > now() - interval '1 hour'`
    }),
    /** The rows outlive deleted accounts, so they have no address. */
    count: (email: string) =>
      Query.run(sql`insert into confirmation_mails as m (email_hash, sent_at)
        values (${hashOf(email.toLowerCase())}, array[now()])
        on conflict (email_hash) do update
          set sent_at = (array[now()] || m.sent_at)[1:${maxPerHour}::integer]`),
    find: Query.findOneOption({
      Request: AccountId,
      Result: Schema.Struct({ email: Schema.String }),
      execute: (id) => sql`select email from accounts where id = ${id} and deleted_at is null`
    }),
    confirm: (id: AccountId, email: string) =>
      Query.rowCount(sql`update accounts set awaits_confirmation = false
        where id = ${id} and email = ${email} and awaits_confirmation returning 1`)
  }
})

/**
 * Proofs that the owner of an account reads the mails to its address. A token names the account and the time when it
 * expires, and its MAC covers the address too. So nothing is stored, and a token of a former address is worth nothing.
 */
export class AddressConfirmations extends Context.Service<AddressConfirmations, {
  /** Refuses an address that got its mails of the hour, before an account with it exists. */
  readonly permit: (email: string) => Effect.Effect<void, RateLimitExceeded>
  /** Mails a link to the account's address, in the caller's transaction. Nothing if the address is confirmed. */
  readonly ask: (accountId: AccountId) => Effect.Effect<void, RateLimitExceeded>
  /** The address that a token confirms. Changes nothing. */
  readonly find: (token: string) => Effect.Effect<string, TokenExpired>
  /** From its commit on, the account may send. A token that was used before changes nothing. Returns the address. */
  readonly confirm: (token: string) => Effect.Effect<string, TokenExpired>
}>()("messaging-service/accounts/AddressConfirmations") {
  static readonly layer = Layer.effect(
    AddressConfirmations,
    Effect.gen(function*() {
      const { transaction } = yield* Database
      const { confirm: key } = yield* MacKeys
      const { base } = yield* PublicUrl
      const audit = yield* Audit
      const notices = yield* SealedNotices
      const repo = yield* makeRepo

      const now = Effect.map(Clock.currentTimeMillis, (millis) => Math.floor(millis / 1000))
      const macOf = (...parts: ReadonlyArray<string | number>) => shortMac(key, parts.join("-"), macLength)

      const mint = Effect.fnUntraced(function*(accountId: AccountId, email: string) {
        const expires = (yield* now) + validSeconds
        return `ct_live_${accountId}-${expires}-${macOf(accountId, expires, email).toString("base64url")}`
      })

      const permit = Effect.fnUntraced(function*(email: string) {
        const wait = yield* repo.wait(email)
        if (Option.isNone(wait)) return
        const retry_after = wait.value.seconds
        const { answerHeaders } = yield* RequestContext
        answerHeaders.set("retry-after", String(retry_after))
        return yield* new RateLimitExceeded({ limit: maxPerHour, per: "hour", retry_after })
      })

      const ask = Effect.fn("AddressConfirmations.ask")(function*(accountId: AccountId) {
        yield* transaction(Effect.gen(function*() {
          const waiting = yield* repo.waiting(accountId)
          if (Option.isNone(waiting)) return
          const { email } = waiting.value
          yield* permit(email)
          yield* repo.count(email)
          const link = `${base}/account/confirm/${yield* mint(accountId, email)}`
          yield* notices.enqueue(addressConfirmationNotice(accountId, link))
        }))
      })

      /** The account that a valid token names, with its address. */
      const named = Effect.fnUntraced(function*(token: string) {
        const [, id, expires, mac = ""] = tokenForm.exec(token) ?? []
        if (Number(expires ?? 0) <= (yield* now)) return yield* new TokenExpired()
        const accountId = AccountId.make(Number(id))
        const found = Option.getOrUndefined(yield* repo.find(accountId))
        const expected = macOf(accountId, Number(expires), found?.email ?? "")
        if (found === undefined || !timingSafeEqual(expected, Buffer.from(mac, "base64url"))) {
          return yield* new TokenExpired()
        }
        return { accountId, email: found.email }
      })

      const confirm = Effect.fn("AddressConfirmations.confirm")(function*(token: string) {
        const { accountId, email } = yield* named(token)
        yield* transaction(Effect.gen(function*() {
          if ((yield* repo.confirm(accountId, email)) === 0) return
          yield* audit.record({ accountId, action: "address.confirmed" })
        }))
        return email
      })

      return AddressConfirmations.of({
        permit,
        ask,
        find: (token) => Effect.map(named(token), ({ email }) => email),
        confirm
      })
    })
  )
}

/** Asks first. A GET changes nothing, because mail scanners open every link. */
const question = (email: string) =>
  ReaderPage.respond(
    "Confirm your email address",
    html`<h1>Confirm your email address</h1>
<p>Did you register an account with <span class="address">${email}</span>?</p>
<form method="post"><button>Confirm</button></form>`
  )

const result = (email: string) =>
  ReaderPage.respond(
    "Email address confirmed",
    html`<h1>Email address confirmed</h1>
<p>The account of <span class="address">${email}</span> may send now.</p>`
  )

const expiredPage = ReaderPage.respond(
  "Link expired",
  html`<h1>This link is unknown or expired</h1>
<p>A confirmation works for three days. Request another mail with <code>POST /v1/auth/confirmation</code>.</p>`,
  410
)

const routes = Effect.gen(function*() {
  const { confirm, find } = yield* AddressConfirmations

  const respond = (method: "GET" | "POST") =>
    Effect.gen(function*() {
      const { token = "" } = yield* HttpRouter.params
      return method === "GET" ? question(yield* find(token)) : result(yield* confirm(token))
    }).pipe(Effect.catchTag("TokenExpired", () => Effect.succeed(expiredPage)))

  return [
    HttpRouter.route("GET", "/account/confirm/:token", respond("GET")),
    HttpRouter.route("POST", "/account/confirm/:token", respond("POST"))
  ]
})

/** Serves the page of the link in the mail after a registration. */
export const AddressConfirmationPage = HttpRouter.addAll(routes)

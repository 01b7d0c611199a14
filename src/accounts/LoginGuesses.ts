import { Context, Effect, Exit, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import * as Query from "../platform/database/Query.ts"
import { RequestContext } from "../platform/http/RequestContext.ts"
import { networkOf } from "../values/IpAddress.ts"
import { type InvalidCredentials, LoginPaused } from "./AccountErrors.ts"
import { laneOf } from "./notices/Notice.ts"
import { passwordsGuessedNotice } from "./notices/securityNotices.ts"

/** Wrong passwords without a pause. */
const free = 5

/** The table outlives deleted accounts by a day, so it has no address. */
export const hashOf = (email: string) => createHash("sha256").update(email).digest("hex")

const Pair = Schema.Struct({ email: Schema.String, network: Schema.String })

const makeRepo = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  return {
    pause: Query.findOneOption({
      Request: Pair,
      Result: Schema.Struct({ seconds: Schema.Int }),
      execute: ({ email, network }) =>
        sql`select ceil(extract(epoch from retry_at - now()))::integer as seconds from login_guesses
          where email_hash = ${hashOf(email)} and client_network = ${network} and retry_at > now()`
    }),
    /**
     * Counts a guess as wrong before it is checked, so that guesses at the same time reach the pause as others do. Nothing
     * during a pause. A day without a wrong password forgives the earlier ones.
     */
    begin: Query.findOneOption({
      Request: Pair,
      Result: Schema.Struct({ failures: Schema.Int }),
      execute: ({ email, network }) =>
        sql`insert into login_guesses as g (email_hash, client_network, failures, failed_at, retry_at)
          values (${hashOf(email)}, ${network}, 1, now(), now())
          on conflict (email_hash, client_network) do update set failed_at = now(),
            failures = case when g.failed_at < now() - interval '1 day' then 1 else g.failures + 1 end,
            retry_at = case when g.failed_at < now() - interval '1 day' or g.failures + 1 < ${free} then now()
              else now() + least(900, 15 * 2 ^ least(g.failures + 1 - ${free}, 10)) * interval '1 second' end
          where g.failures < ${free} or g.retry_at <= now()
          returning failures`
    }),
    /** The owner of an account learns of a pause. The statement takes as long for an address without an account. */
    tell: ({ email, network }: typeof Pair.Type) => {
      const { body, kind, once, subject } = passwordsGuessedNotice(network)
      return Query.run(sql`insert into notices (account_id, lane, kind, once, subject, body)
        select id, ${laneOf(kind)}, ${kind}, ${once}, ${subject}, ${body} from accounts
        where lower(email) = ${email} and deleted_at is null and shadow_of is null
        on conflict do nothing`)
    },
    forget: ({ email, network }: typeof Pair.Type) =>
      Query.run(sql`delete from login_guesses where email_hash = ${hashOf(email)} and client_network = ${network}`)
  }
})

/**
 * Slows down guesses of a password. From the fifth wrong one on, logins with this email address from this client network
 * pause for 15 seconds, then twice as long each time, at most 15 minutes. The owner's own network is not affected, and
 * an address without an account pauses too.
 */
export class LoginGuesses extends Context.Service<LoginGuesses, {
  /** Runs a login. Refuses it during a pause, before its costly check of the password. */
  readonly counted: <A, E extends InvalidCredentials>(
    email: string,
    login: Effect.Effect<A, E>
  ) => Effect.Effect<A, E | LoginPaused>
  /** The same for guesses that count together, from whatever network they come: those of a person's codes. */
  readonly countedAnywhere: <A, E extends InvalidCredentials>(
    name: string,
    check: Effect.Effect<A, E>
  ) => Effect.Effect<A, E | LoginPaused>
}>()("messaging-service/accounts/LoginGuesses") {
  static readonly layer = Layer.effect(
    LoginGuesses,
    Effect.gen(function*() {
      const repo = yield* makeRepo

      const count = Effect.fnUntraced(function*<A, E extends InvalidCredentials>(
        pair: typeof Pair.Type,
        login: Effect.Effect<A, E>
      ) {
        const begun = yield* repo.begin(pair)
        if (Option.isNone(begun)) {
          const pause = yield* repo.pause(pair)
          const seconds = Option.match(pause, { onNone: () => 1, onSome: (found) => found.seconds })
          const { answerHeaders } = yield* RequestContext
          answerHeaders.set("retry-after", String(seconds))
          return yield* new LoginPaused({ retry_after: seconds })
        }
        const isPause = begun.value.failures === free
        // A caller that hangs up has guessed too.
        return yield* Effect.onExit(
          login,
          (exit) => Exit.isSuccess(exit) ? repo.forget(pair) : isPause ? repo.tell(pair) : Effect.void
        )
      })

      return LoginGuesses.of({
        counted: (email, login) =>
          Effect.flatMap(
            RequestContext,
            ({ clientAddress }) => count({ email: email.toLowerCase(), network: networkOf(clientAddress) }, login)
          ),
        countedAnywhere: (name, check) => count({ email: name, network: "any" }, check)
      })
    })
  )
}

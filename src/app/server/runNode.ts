import { Cause, Console, Duration, Effect, Exit, Layer, Option, Redacted, Schedule, Schema } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { Accounts } from "../../accounts/Accounts.ts"
import { ApiKeys } from "../../api-keys/ApiKeys.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { DotEnv } from "../../platform/config/DotEnv.ts"
import { upstreams } from "../../platform/config/Upstreams.ts"
import { Database, DatabaseAddress } from "../../platform/database/Database.ts"
import { DatabaseUnreachable } from "../../platform/database/DatabaseUnreachable.ts"
import * as Query from "../../platform/database/Query.ts"
import { PublicUrl } from "../../platform/http/PublicUrl.ts"
import { SandboxToken } from "../../sandbox/pages/SandboxToken.ts"
import { EmailAddress } from "../../values/EmailAddress.ts"
import { logUpstreams } from "./Channels.ts"
import { Server } from "./Server.ts"

const tour = (base: string, key: string, inbox: string | undefined) => `
Your account is ready (Business plan). This API key is shown only once:

  ${key}

Try it in another terminal:

  curl ${base}/v1/api-keys -H 'Authorization: Bearer ${key}'

  curl ${base}/v1/email/send-bulk -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\
    -d '{"subject":"Hello {{name}}","html":"<p>Dear {{name}}, welcome.</p>","recipients":[{"to":"ada@example.com","variables":{"name":"Ada"}}]}'
${inbox === undefined ? "" : `\n  curl '${inbox}' -H 'Accept: application/json'\n`}
  curl ${base}/v1/whatsapp/sessions -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\
    -d '{"name":"Shop"}'

All endpoints: ${base}/docs
Another key: npm run cli -- account key 1
`

/** Creates the first account, if there is none. Of several nodes that start at once, one creates it. */
const firstAccount = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { transaction } = yield* Database
  const accounts = yield* Accounts
  const keys = yield* ApiKeys
  return yield* transaction(Effect.gen(function*() {
    yield* Query.run(sql`lock table accounts in share row exclusive mode`)
    if ((yield* accounts.list).length > 0) return undefined
    const account = yield* Effect.orDie(accounts.create({
      name: "First account",
      email: EmailAddress.make("owner@localhost.localdomain"),
      plan: "business",
      trial: false
    }))
    return (yield* Effect.orDie(keys.create(account.id, { name: "First key" }))).key
  }))
})

/** The pages of the channels in the sandbox, with the token; none where the pages are closed. */
const sandboxPages = Effect.gen(function*() {
  const { token } = yield* SandboxToken
  const { local } = yield* PublicUrl
  const { smsProvider, smtpUrl, whatsappUrl } = yield* upstreams
  const page = (upstream: unknown, path: string) =>
    upstream === "sandbox" && Option.isSome(token)
      ? `${local}/sandbox/${path}?token=${Redacted.value(token.value)}`
      : undefined
  return { mail: page(smtpUrl, "mail"), sms: page(smsProvider, "sms"), phones: page(whatsappUrl, "phones") }
})

/**
 * Prints links to the sandbox's pages. On the first start of an empty embedded database it also prints an API key and
 * commands to paste.
 */
const welcome = Effect.fnUntraced(function*(base: string) {
  const pages = yield* sandboxPages
  const links = Object.values(pages).filter((link) => link !== undefined)
  const { isEmbedded } = yield* DatabaseAddress
  const key = isEmbedded ? yield* firstAccount : undefined
  if (key !== undefined) yield* Console.log(tour(base, key, pages.mail))
  if (links.length > 0) yield* Console.log(`Sandbox pages, for this machine only:\n\n  ${links.join("\n  ")}\n`)
})

const isUnreachable = Schema.is(DatabaseUnreachable)

/** The failure of a database that may answer soon, if the cause contains one. */
const temporaryIn = (cause: Cause.Cause<unknown>): DatabaseUnreachable | undefined => {
  const failure = Cause.squash(cause)
  const found = SqlError.isSqlError(failure) ? DatabaseUnreachable.from(failure) : failure
  return isUnreachable(found) && found.isTemporary ? found : undefined
}

/**
 * Starts again every half second while the database does not answer. After `DATABASE_WAIT_SECONDS` it fails with
 * `DatabaseUnreachable`. If the database refuses the connection (password, name), it fails at once.
 */
const retryUntilReachable = <A, E, R>(start: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const { databaseWaitSeconds: seconds } = yield* AppConfig
    const attempt = Effect.catchCause(start, (cause): Effect.Effect<never, E | DatabaseUnreachable> => {
      const temporary = temporaryIn(cause)
      return temporary === undefined ? Effect.failCause(cause) : Effect.fail(temporary)
    })
    const isTemporary = (error: E | DatabaseUnreachable) => seconds > 0 && isUnreachable(error) && error.isTemporary
    const everyHalfSecond = Schedule.spaced("500 millis").pipe(Schedule.upTo({ duration: Duration.seconds(seconds) }))
    return yield* Effect.catchIf(attempt, isTemporary, () =>
      Effect.logWarning(`PostgreSQL does not answer yet, retrying for ${seconds} seconds`).pipe(
        Effect.andThen(Effect.retry(attempt, { while: isTemporary, schedule: everyHalfSecond }))
      ))
  })

const announce = Layer.effectDiscard(Effect.gen(function*() {
  const { base, local } = yield* PublicUrl
  if ((yield* AppConfig).paused) yield* Effect.logWarning("PAUSED is true: nothing is sent until a start without it")
  yield* Effect.logInfo(`listening on ${local} (docs at ${base}/docs, Ctrl-C stops)`)
  yield* welcome(base)
}))

/** Ends a process whose shutdown hangs. The next start recovers from the rows. Its finalizer runs first. */
const limitShutdown = Layer.effectDiscard(Effect.gen(function*() {
  const { drainSeconds } = yield* AppConfig
  const limit = Effect.andThen(Effect.sleep(Duration.seconds(15 + drainSeconds)), Effect.sync(() => process.exit(0)))
  yield* Effect.addFinalizer((exit) => Exit.hasInterrupts(exit) ? Effect.forkDetach(limit) : Effect.void)
}))

/** Logs where the settings come from and where messages go. */
const logSettings = Effect.gen(function*() {
  const { path, text } = yield* DotEnv
  yield* Effect.logInfo(
    Option.isSome(text)
      ? `settings are from the environment and ${path}`
      : `settings are from the environment; ${path} does not exist`
  )
  yield* logUpstreams
})

export const runNode = logSettings.pipe(
  Effect.andThen(
    retryUntilReachable(Layer.launch(limitShutdown.pipe(Layer.provideMerge(announce), Layer.provideMerge(Server))))
  )
)

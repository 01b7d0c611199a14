import { NodeServices } from "@effect/platform-node"
import { Cause, Console, Effect, Exit, Layer, Redacted, Schema } from "effect"
import { Command } from "effect/cli"
import { SqlClient } from "effect/sql"
import { Smtp } from "../../channels/email/Smtp.ts"
import { SmtpLayer } from "../../channels/email/SmtpLayer.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { MainVault } from "../../platform/crypto/MainKey.ts"
import { MainKeyProbe } from "../../platform/crypto/MainKeyProbe.ts"
import { Database, DatabaseAddress } from "../../platform/database/Database.ts"

/** At least one check failed; what and why was printed. */
class NotHealthy extends Schema.TaggedError<NotHealthy>()("NotHealthy", { failed: Schema.Int }) {
  override get message() {
    return `${this.failed} ${this.failed === 1 ? "check" : "checks"} failed.`
  }
}

const database = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { isEmbedded } = yield* DatabaseAddress
  const [row] = yield* sql`select current_setting('server_version') as version`
  const answers = `PostgreSQL ${String(row?.["version"])} answers and is up to date`
  if (!isEmbedded) return answers
  // Not always in DATA_DIR: root's server account may be unable to walk there. A backup has to know.
  const [place] = yield* sql`select current_setting('data_directory') as files`
  return `${answers}; its files are in ${String(place?.["files"])}`
}).pipe(Effect.provide(Database.pipe(Layer.provideMerge(DatabaseAddress.layer), Layer.provide(NodeServices.layer))))

const secrets = Effect.succeed("the encryption key is the database's own").pipe(
  Effect.provide(MainKeyProbe.pipe(
    Layer.provide(MainVault),
    Layer.provide(Database),
    Layer.provide(DatabaseAddress.layer),
    Layer.provide(NodeServices.layer)
  ))
)

const relay = Effect.gen(function*() {
  const { smtpUrl } = yield* AppConfig
  if (smtpUrl === undefined) return "no SMTP_URL: mail goes to the sandbox inbox"
  const { authMethods, extensions, tls } = yield* Effect.flatMap(Smtp, ({ verify }) => verify).pipe(
    Effect.provide(SmtpLayer(Redacted.value(smtpUrl).href))
  )
  const dsn = extensions.includes("DSN") ? "" : "; it offers no DSN, so delivery beyond it stays unknown"
  return `the relay answers${tls ? " over TLS" : " without TLS"}${authMethods.length > 0 ? ", logged in" : ""}${dsn}`
})

const links = Effect.map(AppConfig, ({ publicUrl }) => {
  if (publicUrl === undefined) return "no PUBLIC_URL: links in mail work on this machine only"
  const { hostname, protocol } = Redacted.value(publicUrl)
  return protocol === "https:" || ["localhost", "127.0.0.1", "[::1]"].includes(hostname)
    ? "PUBLIC_URL is fine"
    : "PUBLIC_URL is http: keys and links travel readable; put a TLS proxy in front and set TRUSTED_PROXIES"
})

/** Prints the outcome of one check and whether it passed. */
const check = <E, R>(name: string, effect: Effect.Effect<string, E, R>) =>
  Effect.flatMap(Effect.exit(effect), (exit) => {
    if (Exit.isSuccess(exit)) return Effect.as(Console.log(`ok    ${name}: ${exit.value}`), true)
    const failure = Cause.squash(exit.cause)
    const reason =
      typeof failure === "object" && failure !== null && "reason" in failure && typeof failure.reason === "string"
        ? failure.reason
        : failure instanceof Error
        ? failure.message
        : String(failure)
    return Effect.as(Console.log(`FAIL  ${name}: ${reason}`), false)
  })

/** Says what is wrong before customers do. */
export const doctor = Command.make("doctor", {}, () =>
  Effect.gen(function*() {
    const passed = [
      yield* check("database", database),
      yield* check("secrets", secrets),
      yield* check("mail", relay),
      yield* check("links", links)
    ]
    const failed = passed.filter((ok) => !ok).length
    if (failed > 0) return yield* new NotHealthy({ failed })
  })).pipe(Command.withDescription("Check database, secrets, mail relay and links, and say what is wrong"))

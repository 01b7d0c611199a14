import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect, Exit, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { listenerCertificate } from "../../channels/email/reports/listenerCertificate.ts"
import { bounceSettings } from "../../channels/email/reports/ReturnPaths.ts"
import { Smtp } from "../../channels/email/smtp/Smtp.ts"
import { SmtpLayer } from "../../channels/email/smtp/SmtpLayer.ts"
import { greetingName } from "../../channels/email/smtp/SmtpUrl.ts"
import { isSpf } from "../../email-domains/SpfRecord.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { upstreamOf } from "../../platform/config/Upstreams.ts"
import { mainKeyProbe, MainVault } from "../../platform/crypto/MainKey.ts"
import { countForeign } from "../../platform/crypto/rotateMainKey.ts"
import { Database, DatabaseAddress } from "../../platform/database/Database.ts"
import { isRemote } from "../../platform/database/DatabaseUrl.ts"
import { FreeSpace } from "../../platform/database/FreeSpace.ts"
import { Dns } from "../../platform/net/Dns.ts"
import { pluralize } from "../../values/messageText.ts"
import { sealedColumns } from "../server/sealedColumns.ts"
import { inSandbox, Notable, smsCheck, whatsappCheck } from "./channelChecks.ts"

/** At least one check failed. Its reason was printed. */
class NotHealthy extends Schema.TaggedError<NotHealthy>()("NotHealthy", { failed: Schema.Int }) {
  override get message() {
    return `${pluralize(this.failed, "check")} failed.`
  }
}

/** The service accepts no messages. */
class StorageShort extends Schema.TaggedError<StorageShort>()("StorageShort", {
  free: Schema.String,
  mark: Schema.String
}) {
  override get message() {
    return `Only ${this.free} are free, less than FREE_SPACE_MARK_GB (${this.mark}): no message is accepted. Make room, or shorten the retention. See docs/operations.md`
  }
}

const gigabytes = (bytes: number) => `${(bytes / 1_000_000_000).toFixed(2)} GB`

/** Values that a node sealed with the previous key after the rotation had ended. */
class SecretsLost extends Schema.TaggedError<SecretsLost>()("SecretsLost", { left: Schema.Int }) {
  override get message() {
    return `${this.left} stored secrets are not encrypted with ENCRYPTION_KEY. Set ENCRYPTION_KEY_PREVIOUS to the previous key, then run: npm run cli -- rotate-key`
  }
}

/** Receivers would find no SPF record at the host of `include:`. */
class SpfHostMissing extends Schema.TaggedError<SpfHostMissing>()("SpfHostMissing", { host: Schema.String }) {
  override get message() {
    return `${this.host} has no SPF record. Publish one that lists the relay's addresses, or set SPF_INCLUDE_HOST to a host that has one.`
  }
}

/** Relays and spam filters look the name up. They refuse or distrust a sender whose name has no address. */
class HeloNameUnknown extends Schema.TaggedError<HeloNameUnknown>()("HeloNameUnknown", { name: Schema.String }) {
  override get message() {
    return `${this.name} has no address. Set HELO_NAME to a name that resolves to this node, preferably the name in its reverse DNS record.`
  }
}

/**
 * Neither HELO_NAME nor the machine gives a name for EHLO. An address in square brackets is only for machines without a
 * name.
 */
class HeloNameMissing extends Schema.TaggedError<HeloNameMissing>()("HeloNameMissing", {}) {
  override get message() {
    return "HELO_NAME is not set, and this machine has no full host name: EHLO says [127.0.0.1]. Set HELO_NAME to a name that resolves to this node, preferably the name in its reverse DNS record."
  }
}

/** Other mail servers do not know where to send their reports about our mail. */
class BounceMxMissing extends Schema.TaggedError<BounceMxMissing>()("BounceMxMissing", { domain: Schema.String }) {
  override get message() {
    return `${this.domain} has no MX record. Publish one that points to a node with a BOUNCE_PORT. See docs/email/bounces.md`
  }
}

const database = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`select current_setting('server_version') as version`
  const answers = `PostgreSQL ${String(row?.["version"])} answers and is up to date`
  const { databaseUrl } = yield* AppConfig
  if (databaseUrl !== undefined) {
    const [tls] = yield* sql`select version from pg_stat_ssl where pid = pg_backend_pid() and ssl`
    if (tls !== undefined) return `${answers}; the connection is encrypted (${String(tls["version"])})`
    const text = `${answers}; the connection is not encrypted`
    return isRemote(Redacted.value(databaseUrl)) ? new Notable({ text }) : text
  }
  // Not always DATA_DIR, because root's server account may be unable to reach it. Backups need the actual path.
  const [place] = yield* sql`select current_setting('data_directory') as files`
  return `${answers}; its files are in ${String(place?.["files"])}`
}).pipe(
  Effect.provide(Database.layer.pipe(Layer.provide(DatabaseAddress.layer), Layer.provide(NodeServices.layer)))
)

/** Whether the database may still grow. Below the mark no message is accepted. */
const storage = Effect.gen(function*() {
  const { freeBytes, markBytes } = yield* Effect.flatMap(FreeSpace, ({ measure }) => measure)
  if (!Number.isFinite(freeBytes)) {
    return "DATABASE_SIZE_LIMIT_GB is not set: watch the disk of your PostgreSQL yourself"
  }
  const free = gigabytes(freeBytes)
  return freeBytes < markBytes
    ? yield* new StorageShort({ free, mark: gigabytes(markBytes) })
    : `${free} are free; below ${gigabytes(markBytes)} no message is accepted`
}).pipe(Effect.provide(FreeSpace.layer.pipe(
  Layer.provide(Database.layer),
  Layer.provide(DatabaseAddress.layer),
  Layer.provide(NodeServices.layer)
)))

/** During a rotation of the main key it reports the progress. */
const secrets = Effect.gen(function*() {
  const { encryptionKeyPrevious } = yield* AppConfig
  yield* mainKeyProbe
  const left = yield* countForeign([...sealedColumns.columns, sealedColumns.last])
  if (left > 0) {
    return encryptionKeyPrevious === undefined
      ? yield* new SecretsLost({ left })
      : `${left} stored secrets are not yet encrypted with ENCRYPTION_KEY. Run rotate-key, and keep ENCRYPTION_KEY_PREVIOUS until it ends`
  }
  const all = "ENCRYPTION_KEY is the key of this database, and all stored secrets are encrypted with it"
  return encryptionKeyPrevious === undefined ? all : `${all}; remove ENCRYPTION_KEY_PREVIOUS`
}).pipe(Effect.provide(MainVault.pipe(
  Layer.provideMerge(Database.layer),
  Layer.provide(DatabaseAddress.layer),
  Layer.provide(NodeServices.layer)
)))

const relay = Effect.gen(function*() {
  const smtpUrl = yield* upstreamOf("SMTP_URL", (config) => config.smtpUrl)
  if (smtpUrl === "sandbox") return yield* inSandbox("mail goes to the sandbox inbox and reaches no recipient")
  const { authMethods, extensions, tls } = yield* Effect.flatMap(Smtp, ({ verify }) => verify).pipe(
    Effect.provide(SmtpLayer.fromUrl(Redacted.value(smtpUrl).href))
  )
  const dsn = extensions.includes("DSN") ? "" : "; it does not offer DSN, so delivery after the relay stays unknown"
  return `the relay accepts connections${tls ? " with TLS" : " without TLS"}${
    authMethods.length > 0 ? ", authenticated" : ""
  }${dsn}`
})

/** RFC 5321 2.3.5: a host identifies itself in EHLO by a name that can be looked up. */
const greeting = Effect.gen(function*() {
  const { heloName, smtpUrl } = yield* AppConfig
  if (smtpUrl === undefined || smtpUrl === "sandbox") return "without a relay, no server sees HELO_NAME"
  const name = greetingName(heloName)
  if (name === undefined) return yield* new HeloNameMissing()
  const isKnown = yield* Effect.flatMap(Dns, ({ hasAddress }) => hasAddress(name))
  return isKnown ? `${name} has an address` : yield* new HeloNameUnknown({ name })
}).pipe(Effect.provide(Dns.layer))

const bounces = Effect.gen(function*() {
  const { dnsServers, mailBounceDomain, smtpUrl } = yield* AppConfig
  const { domain, host, port } = yield* bounceSettings
  if (smtpUrl === "sandbox" && mailBounceDomain === undefined) {
    return "MAIL_BOUNCE_DOMAIN is not set: the sandbox reports to this node"
  }
  if (domain === undefined) {
    return "MAIL_BOUNCE_DOMAIN is not set: later bounces and complaints stay unknown"
  }
  const tls = (yield* listenerCertificate) === undefined ? "" : " with STARTTLS"
  const receiver = port === undefined
    ? "BOUNCE_PORT is not set: another node must receive the reports"
    : `this node receives the reports on ${host}:${port}${tls}`
  if (smtpUrl !== "sandbox" || dnsServers !== undefined) {
    const exchangers = yield* Effect.flatMap(Dns, ({ mx }) => mx(domain))
    if (exchangers.every(({ exchange }) => exchange === "")) return yield* new BounceMxMissing({ domain })
  }
  return `return paths use ${domain}; ${receiver}`
}).pipe(Effect.provide([Dns.layer, NodeServices.layer]))

const links = Effect.map(AppConfig, ({ publicUrl }) => {
  if (publicUrl === undefined) return "PUBLIC_URL is not set: links in mail work on this machine only"
  const { hostname, protocol } = Redacted.value(publicUrl)
  if (["localhost", "127.0.0.1", "[::1]"].includes(hostname)) {
    return "PUBLIC_URL is an address of this machine: links in mail work on this machine only"
  }
  return protocol === "https:"
    ? "PUBLIC_URL is an https address"
    : "PUBLIC_URL is http: keys and links are sent unencrypted, and one-click unsubscribe does not work. Put a TLS proxy in front and set TRUSTED_PROXIES"
})

/** The SPF records of all sending domains include this host, so its own record must list the relay. */
const names = Effect.gen(function*() {
  const { dnsServers, smtpUrl, spfIncludeHost } = yield* AppConfig
  if (smtpUrl === "sandbox" && dnsServers === undefined) return "without a relay, SPF_INCLUDE_HOST is not used yet"
  const texts = yield* Effect.flatMap(Dns, ({ txt }) => txt(spfIncludeHost))
  return texts.some(isSpf)
    ? `${spfIncludeHost} has an SPF record`
    : yield* new SpfHostMissing({ host: spfIncludeHost })
}).pipe(Effect.provide(Dns.layer))

/** Prints one check's result and returns whether it passed. */
const check = <E, R>(name: string, effect: Effect.Effect<string | Notable, E, R>) =>
  Effect.flatMap(Effect.exit(effect), (exit) => {
    if (Exit.isSuccess(exit)) {
      const { value } = exit
      const line = typeof value === "string" ? `ok    ${name}: ${value}` : `WARN  ${name}: ${value.text}`
      return Effect.as(Console.log(line), true)
    }
    const failure = Cause.squash(exit.cause)
    const reason =
      typeof failure === "object" && failure !== null && "reason" in failure && typeof failure.reason === "string"
        ? failure.reason
        : failure instanceof Error
        ? failure.message
        : String(failure)
    return Effect.as(Console.log(`FAIL  ${name}: ${reason}`), false)
  })

/** Checks the whole configuration. Fails if any check fails. */
export const diagnose = Effect.gen(function*() {
  const passed = [
    yield* check("mode", Effect.map(AppConfig, ({ mode, modeReason }) => `${mode}, because ${modeReason}`)),
    yield* check("database", database),
    yield* check("storage", storage),
    yield* check("secrets", secrets),
    yield* check("mail", relay),
    yield* check("helo", greeting),
    yield* check("bounces", bounces),
    yield* check("links", links),
    yield* check("dns", names),
    yield* check("sms", smsCheck),
    yield* check("whatsapp", whatsappCheck)
  ]
  const failed = passed.filter((ok) => !ok).length
  if (failed > 0) return yield* new NotHealthy({ failed })
})

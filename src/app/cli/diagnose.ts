import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect, Exit, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { bounceSettings } from "../../channels/email/reports/bounceSettings.ts"
import { listenerCertificate } from "../../channels/email/reports/listenerCertificate.ts"
import { greetingName } from "../../channels/email/smtp/greetingName.ts"
import { Smtp } from "../../channels/email/smtp/Smtp.ts"
import { SmtpLayer } from "../../channels/email/smtp/SmtpLayer.ts"
import { isSpf } from "../../email-domains/SpfRecord.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { MainVault } from "../../platform/crypto/MainKey.ts"
import { mainKeyProbe } from "../../platform/crypto/MainKeyProbe.ts"
import { countForeign } from "../../platform/crypto/rotateMainKey.ts"
import { Database, DatabaseAddress } from "../../platform/database/Database.ts"
import { Dns } from "../../platform/net/Dns.ts"
import { counted } from "../../values/counted.ts"
import { sealedColumns } from "../sealedColumns.ts"
import { smsCheck, whatsappCheck } from "./channelChecks.ts"

/** At least one check failed; what and why was printed. */
class NotHealthy extends Schema.TaggedError<NotHealthy>()("NotHealthy", { failed: Schema.Int }) {
  override get message() {
    return `${counted(this.failed, "check")} failed.`
  }
}

/** Values that a node sealed under the previous key after the rotation had ended. */
class SecretsLost extends Schema.TaggedError<SecretsLost>()("SecretsLost", { left: Schema.Int }) {
  override get message() {
    return `Stored secrets under another key than ENCRYPTION_KEY: ${this.left}. Set ENCRYPTION_KEY_PREVIOUS to the key before it, and run: npm run cli -- rotate-key`
  }
}

/** Receivers would find no host behind `include:`. */
class SpfHostMissing extends Schema.TaggedError<SpfHostMissing>()("SpfHostMissing", { host: Schema.String }) {
  override get message() {
    return `${this.host} has no SPF record. Publish one there that names the relay's addresses, or set SPF_INCLUDE_HOST to a host that has one.`
  }
}

/** Relays and spam filters look the name up and refuse, or think less of, whoever gives one that leads nowhere. */
class HeloNameUnknown extends Schema.TaggedError<HeloNameUnknown>()("HeloNameUnknown", { name: Schema.String }) {
  override get message() {
    return `${this.name} has no address. Set HELO_NAME to a name that leads to this node, best the one that its address leads back to.`
  }
}

/** Nothing names this node in EHLO, and an address in square brackets is for machines without a name. */
class HeloNameMissing extends Schema.TaggedError<HeloNameMissing>()("HeloNameMissing", {}) {
  override get message() {
    return "There is no HELO_NAME, and this machine has no full host name: the relay is told [127.0.0.1]. Set HELO_NAME to a name that leads to this node, best the one that its address leads back to."
  }
}

/** Mail servers that have something to report about our mail do not know where to. */
class BounceMxMissing extends Schema.TaggedError<BounceMxMissing>()("BounceMxMissing", { domain: Schema.String }) {
  override get message() {
    return `${this.domain} has no MX record. Publish one that leads to a node with a BOUNCE_PORT; docs/email/bounces.md`
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
}).pipe(
  Effect.provide(Database.layer.pipe(Layer.provideMerge(DatabaseAddress.layer), Layer.provide(NodeServices.layer)))
)

/** During a rotation of the main key it says how far that is. */
const secrets = Effect.gen(function*() {
  const { encryptionKeyPrevious } = yield* AppConfig
  yield* mainKeyProbe
  const left = yield* countForeign([...sealedColumns.columns, sealedColumns.last])
  if (left > 0) {
    return encryptionKeyPrevious === undefined
      ? yield* new SecretsLost({ left })
      : `not yet under ENCRYPTION_KEY: ${left}. Run rotate-key, and keep ENCRYPTION_KEY_PREVIOUS until it has ended`
  }
  const all = "the encryption key is the database's own, and every stored secret is under it"
  return encryptionKeyPrevious === undefined ? all : `${all}; ENCRYPTION_KEY_PREVIOUS can be removed now`
}).pipe(Effect.provide(MainVault.pipe(
  Layer.provideMerge(Database.layer),
  Layer.provide(DatabaseAddress.layer),
  Layer.provide(NodeServices.layer)
)))

const relay = Effect.gen(function*() {
  const { smtpUrl } = yield* AppConfig
  if (smtpUrl === undefined) return "no SMTP_URL: mail goes to the sandbox inbox"
  const { authMethods, extensions, tls } = yield* Effect.flatMap(Smtp, ({ verify }) => verify).pipe(
    Effect.provide(SmtpLayer(Redacted.value(smtpUrl).href))
  )
  const dsn = extensions.includes("DSN") ? "" : "; it offers no DSN, so delivery beyond it stays unknown"
  return `the relay answers${tls ? " over TLS" : " without TLS"}${authMethods.length > 0 ? ", logged in" : ""}${dsn}`
})

/** RFC 5321 2.3.5: a host says in EHLO who it is by a name that can be looked up. */
const greeting = Effect.gen(function*() {
  const { heloName, smtpUrl } = yield* AppConfig
  if (smtpUrl === undefined) return "no SMTP_URL: no relay asks for HELO_NAME"
  const name = greetingName(heloName)
  if (name === undefined) return yield* new HeloNameMissing()
  const isKnown = yield* Effect.flatMap(Dns, ({ hasAddress }) => hasAddress(name))
  return isKnown ? `${name} has an address` : yield* new HeloNameUnknown({ name })
}).pipe(Effect.provide(Dns.layer))

const bounces = Effect.gen(function*() {
  const { dnsServers, mailBounceDomain, smtpUrl } = yield* AppConfig
  const { domain, host, port } = yield* bounceSettings
  if (smtpUrl === undefined && mailBounceDomain === undefined) {
    return "no SMTP_URL and no MAIL_BOUNCE_DOMAIN: the sandbox reports to this node"
  }
  if (domain === undefined) {
    return "no MAIL_BOUNCE_DOMAIN: bounces and complaints that come after the relay took a mail stay unknown"
  }
  const tls = (yield* listenerCertificate) === undefined ? "" : " with STARTTLS"
  const taken = port === undefined
    ? "no BOUNCE_PORT here, so another node has to take what comes there"
    : `this node takes what comes there on ${host}:${port}${tls}`
  if (smtpUrl !== undefined || dnsServers !== undefined) {
    const exchangers = yield* Effect.flatMap(Dns, ({ mx }) => mx(domain))
    if (exchangers.every(({ exchange }) => exchange === "")) return yield* new BounceMxMissing({ domain })
  }
  return `return paths are at ${domain}; ${taken}`
}).pipe(Effect.provide([Dns.layer, NodeServices.layer]))

const links = Effect.map(AppConfig, ({ publicUrl }) => {
  if (publicUrl === undefined) return "no PUBLIC_URL: links in mail work on this machine only"
  const { hostname, protocol } = Redacted.value(publicUrl)
  if (["localhost", "127.0.0.1", "[::1]"].includes(hostname)) {
    return "PUBLIC_URL is an address of this machine: links in mail work here only"
  }
  return protocol === "https:"
    ? "PUBLIC_URL is fine"
    : "PUBLIC_URL is http: keys and links travel readable, and nobody unsubscribes by one click; put a TLS proxy in front and set TRUSTED_PROXIES"
})

/** The SPF records of all sending domains include this host, which has to say who the relay is. */
const names = Effect.gen(function*() {
  const { dnsServers, smtpUrl, spfIncludeHost } = yield* AppConfig
  if (smtpUrl === undefined && dnsServers === undefined) return "no SMTP_URL: nobody looks at SPF_INCLUDE_HOST yet"
  const texts = yield* Effect.flatMap(Dns, ({ txt }) => txt(spfIncludeHost))
  return texts.some(isSpf)
    ? `${spfIncludeHost} has its SPF record`
    : yield* new SpfHostMissing({ host: spfIncludeHost })
}).pipe(Effect.provide(Dns.layer))

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

/** Says what is wrong before customers do; fails when anything is. */
export const diagnose = Effect.gen(function*() {
  const passed = [
    yield* check("database", database),
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

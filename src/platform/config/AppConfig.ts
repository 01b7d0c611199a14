import { Context, Effect, Layer, Record } from "effect"
import * as Setting from "./Setting.ts"

/** Every setting of the operator. `.env.example`, the README's table and `config` are made from this list. */
export const settings = {
  host: Setting.text("HOST", "127.0.0.1", "Address that HTTP listens on."),
  port: Setting.int(0, 65535)("PORT", "8080", "Port that HTTP listens on; 0 takes a free one."),
  publicUrl: Setting.optional(Setting.url(["http", "https"], false))(
    "PUBLIC_URL",
    "Base of the links in mail and of the printed examples. Unset: http://HOST:PORT."
  ),
  databaseUrl: Setting.optional(Setting.url(["postgres", "postgresql"]))(
    "DATABASE_URL",
    "PostgreSQL 14 or newer. Unset: an embedded PostgreSQL in DATA_DIR."
  ),
  databaseConnections: Setting.int(4, 500)(
    "DATABASE_CONNECTIONS",
    "20",
    "Connections of this node to PostgreSQL; the cluster takes 4 more."
  ),
  dataDir: Setting.text("DATA_DIR", "./data", "Embedded database and generated encryption key."),
  encryptionKey: Setting.optional(Setting.key256)(
    "ENCRYPTION_KEY",
    "32 bytes in base64 that wrap all secrets at rest. Required with DATABASE_URL, else generated into DATA_DIR."
  ),
  runnerHost: Setting.text("RUNNER_HOST", "127.0.0.1", "This node's address for the other nodes."),
  runnerPort: Setting.int(0, 65535)("RUNNER_PORT", "0", "This node's port for the other nodes; 0 takes a free one."),
  smtpUrl: Setting.optional(Setting.url(["smtp", "smtps"]))(
    "SMTP_URL",
    "smtp(s)://user:password@host:port of the relay. Unset: the sandbox's SMTP server and inbox."
  ),
  smtpConnections: Setting.int(2, 200)("SMTP_CONNECTIONS", "8", "Connections of this node to the relay."),
  mailFrom: Setting.text(
    "MAIL_FROM",
    "Messaging Service <no-reply@localhost.localdomain>",
    "Default sender: an address or Name <address>."
  ),
  webhookAllowLoopback: Setting.optional(Setting.boolean)(
    "WEBHOOK_ALLOW_LOOPBACK",
    "Development: webhooks to localhost, 127.0.0.1 and ::1, also by http. Unset: true on the embedded database, else false."
  ),
  webhookTimeoutSeconds: Setting.int(1, 60)(
    "WEBHOOK_TIMEOUT_SECONDS",
    "10",
    "The one clock over DNS, connect, TLS, headers and body of a webhook attempt."
  ),
  trustedProxies: Setting.optional(Setting.networks)(
    "TRUSTED_PROXIES",
    "Addresses or networks (10.0.0.0/8) of the TLS proxies in front, whose X-Forwarded-For is believed."
  ),
  registration: Setting.optional(Setting.oneOf(["open", "closed"]))(
    "REGISTRATION",
    "open or closed: POST /v1/auth/register. Unset: open on the embedded database, else closed."
  ),
  logLevel: Setting.oneOf(["trace", "debug", "info", "warning", "error"])(
    "LOG_LEVEL",
    "info",
    "trace, debug, info, warning or error: the least level that is logged."
  ),
  logFormat: Setting.optional(Setting.oneOf(["pretty", "json"]))(
    "LOG_FORMAT",
    "pretty or json. Unset: pretty on a terminal, else json."
  ),
  metricsPort: Setting.optional(Setting.int(1, 65535))("METRICS_PORT", "Port of /metrics for Prometheus. Unset: none."),
  otlpEndpoint: Setting.optional(Setting.url(["http", "https"], false))(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "Base URL of an OTLP/HTTP collector that takes traces. Unset: no traces."
  ),
  rateLimitStarter: Setting.int(1, 1_000_000)("RATE_LIMIT_STARTER", "60", "Requests per key and minute, Starter plan."),
  rateLimitGrowth: Setting.int(1, 1_000_000)("RATE_LIMIT_GROWTH", "300", "Requests per key and minute, Growth plan."),
  rateLimitBusiness: Setting.int(1, 1_000_000)(
    "RATE_LIMIT_BUSINESS",
    "1000",
    "Requests per key and minute, Business plan."
  ),
  rateLimitEnterprise: Setting.int(1, 1_000_000)(
    "RATE_LIMIT_ENTERPRISE",
    "2000",
    "Requests per key and minute, Enterprise plan."
  ),
  rateLimitLogin: Setting.int(1, 1_000_000)(
    "RATE_LIMIT_LOGIN",
    "20",
    "Logins and registrations per client address and minute."
  )
} as const

type Values = {
  readonly [K in keyof typeof settings]: (typeof settings)[K] extends Setting.Setting<infer A> ? A : never
}

/** The operator's settings, checked once at the start. */
export class AppConfig extends Context.Service<AppConfig, Values>()("messaging-service/platform/config/AppConfig") {
  /** Reads every setting; fails with `WrongSetting` on the first that cannot be used. */
  static readonly layer: Layer.Layer<AppConfig, Setting.WrongSetting> = Layer.effect(
    AppConfig,
    Effect.map(
      Effect.forEach(
        Record.toEntries(settings),
        ([key, setting]) => Effect.map(Setting.read<unknown>(setting), (value) => [key, value] as const)
      ),
      // The table's own types say what each reader returns; a mapped type cannot be built entry by entry.
      (entries) => AppConfig.of(Record.fromEntries(entries) as Values)
    )
  )
}

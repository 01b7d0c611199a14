import { otpSettings } from "./otpSettings.ts"
import { planSettings } from "./planSettings.ts"
import { rateLimitSettings } from "./rateLimitSettings.ts"
import * as Setting from "./Setting.ts"
import { whatsappSettings } from "./whatsappSettings.ts"

/** Every setting, in the order in which `.env.example`, docs/settings.md and `config` list them. */
export const settings = {
  mode: Setting.optional(Setting.oneOf(["development", "production"]))(
    "MODE",
    "development or production. Unset: production if PUBLIC_URL or HOST is not a loopback address, or if DATABASE_URL is set."
  ),
  host: Setting.text("HOST", "127.0.0.1", "Address that HTTP listens on."),
  port: Setting.int(0, 65535)("PORT", "8080", "Port that HTTP listens on; 0 picks a free one."),
  publicUrl: Setting.optional(Setting.url(["http", "https"], false))(
    "PUBLIC_URL",
    "Base URL of the links in mail and in printed examples. Unset: http://HOST:PORT."
  ),
  drainSeconds: Setting.int(0, 300)(
    "DRAIN_SECONDS",
    "2",
    "Seconds that a node that stops still answers and closes connections, so that clients leave; 0: none."
  ),
  trustedProxies: Setting.optional(Setting.networks)(
    "TRUSTED_PROXIES",
    "Addresses or networks (10.0.0.0/8) of TLS proxies whose X-Forwarded-For is trusted. Unset: none."
  ),
  httpConnections: Setting.int(10, 100_000)(
    "HTTP_CONNECTIONS",
    "2000",
    "Open HTTP connections of this node, and its requests in flight. A new connection replaces the longest idle one."
  ),
  httpConnectionsPerAddress: Setting.int(1, 100_000)(
    "HTTP_CONNECTIONS_PER_ADDRESS",
    "500",
    "Open connections of a client's address, and requests in flight of an address or account. Proxies in TRUSTED_PROXIES have no such limit."
  ),
  memoryLimitMb: Setting.optional(Setting.int(64, 1_000_000))(
    "MEMORY_LIMIT_MB",
    "Megabytes of resident memory above which this node refuses new messages with 503. Unset: three quarters of the memory of its container or machine."
  ),
  registration: Setting.optional(Setting.oneOf(["open", "closed"]))(
    "REGISTRATION",
    "Access to POST /v1/auth/register: open or closed. Unset: open in development, closed in production."
  ),
  registrationConfirm: Setting.optional(Setting.boolean)(
    "REGISTRATION_CONFIRM",
    "Whether an account that registers sends nothing until its owner has confirmed the email address. Unset: true in production, false in development."
  ),
  trialChannels: Setting.words(["email", "sms", "whatsapp"])(
    "TRIAL_CHANNELS",
    "email,sms,whatsapp",
    "Channels that accounts may send by during their trial, codes included."
  ),
  paused: Setting.boolean(
    "PAUSED",
    "false",
    "true: this node accepts and reads, and sends nothing: no message, no webhook, no WhatsApp connection."
  ),
  databaseUrl: Setting.optional(Setting.url(["postgres", "postgresql"]))(
    "DATABASE_URL",
    "URL of a PostgreSQL 14 or newer. TLS is required unless the host is this machine or ?sslmode=disable is set. Unset: an embedded PostgreSQL in DATA_DIR."
  ),
  databaseCaFile: Setting.optional(Setting.text)(
    "DATABASE_CA_FILE",
    "Certificates (PEM) of the authorities that may sign the certificate of DATABASE_URL's server. Unset: the system's."
  ),
  databaseConnections: Setting.int(4, 500)(
    "DATABASE_CONNECTIONS",
    "20",
    "Connections of this node to PostgreSQL for requests. The cluster and the actors' queues use 4 more each, quick reads and quick writes 2 each, maintenance 2, health checks 1."
  ),
  statementTimeoutSeconds: Setting.int(1, 300)(
    "STATEMENT_TIMEOUT_SECONDS",
    "5",
    "Seconds after which PostgreSQL ends a statement of a request, which is then answered with 503."
  ),
  databaseWaitSeconds: Setting.int(0, 3600)(
    "DATABASE_WAIT_SECONDS",
    "30",
    "Seconds that a start waits for a PostgreSQL that does not answer; 0 gives up at once."
  ),
  databaseSizeLimitGb: Setting.optional(Setting.decimal(0.001, 1_000_000))(
    "DATABASE_SIZE_LIMIT_GB",
    "Gigabytes that the database may have. Set it for a PostgreSQL of your own, whose disk the service cannot measure. Unset: no limit."
  ),
  freeSpaceMarkGb: Setting.decimal(0, 1_000_000)(
    "FREE_SPACE_MARK_GB",
    "0.5",
    "Gigabytes of free space below which no message is accepted: of DATA_DIR's disk with the embedded database, and of DATABASE_SIZE_LIMIT_GB. 0: never refuse."
  ),
  dataDir: Setting.text("DATA_DIR", "./data", "Directory of the embedded database and the generated encryption key."),
  encryptionKey: Setting.optional(Setting.key256)(
    "ENCRYPTION_KEY",
    "Main key: 32 bytes in base64 that wrap all stored secrets. Required with DATABASE_URL. Unset: generated into DATA_DIR."
  ),
  encryptionKeyPrevious: Setting.optional(Setting.key256)(
    "ENCRYPTION_KEY_PREVIOUS",
    "Previous main key, during a rotation: secrets sealed under it can still be opened."
  ),
  runnerHost: Setting.text("RUNNER_HOST", "127.0.0.1", "Address of this node for other nodes."),
  runnerPort: Setting.int(0, 65535)("RUNNER_PORT", "0", "Port of this node for other nodes; 0 picks a free one."),
  smtpUrl: Setting.optional(Setting.wordOr("sandbox", Setting.url(["smtp", "smtps"])))(
    "SMTP_URL",
    "URL of the relay: smtp(s)://user:password@host:port; or sandbox, an inbox on this machine. Required in production. Unset: sandbox."
  ),
  smtpConnections: Setting.int(2, 200)(
    "SMTP_CONNECTIONS",
    "8",
    "Connections of this node to the relay. From 3 on, one is kept for one-time codes and security notices, and batches leave another to single emails."
  ),
  smtpDialogue: Setting.oneOf(["failures", "all", "none"])(
    "SMTP_DIALOGUE",
    "failures",
    "Dialogues with the relay that attempts keep: those of failures and deferrals, all, or none. Without its dialogue, an attempt keeps the last reply."
  ),
  smtpTimeoutSeconds: Setting.int(1, 600)(
    "SMTP_TIMEOUT_SECONDS",
    "60",
    "Seconds without a byte from the relay after which an SMTP connection is closed."
  ),
  heloName: Setting.optional(Setting.domainName)(
    "HELO_NAME",
    "Fully qualified host name that this node sends in EHLO. Unset: the machine's own, or [127.0.0.1]."
  ),
  mailFrom: Setting.text(
    "MAIL_FROM",
    "Messaging Service <no-reply@localhost.localdomain>",
    "Default sender: an address or Name <address>."
  ),
  mailFromShared: Setting.boolean(
    "MAIL_FROM_SHARED",
    "true",
    "Whether accounts may send without `from`, as MAIL_FROM. If false, every mail needs a verified domain of its account."
  ),
  noticeFrom: Setting.optional(Setting.text)(
    "NOTICE_FROM",
    "Sender of notices to account owners, such as password mails. Unset: MAIL_FROM."
  ),
  spfIncludeHost: Setting.domainName(
    "SPF_INCLUDE_HOST",
    "spf.localhost.localdomain",
    "Host whose SPF record lists the relay's addresses. The SPF records of sending domains include it."
  ),
  dnsServers: Setting.optional(Setting.nameServers)(
    "DNS_SERVERS",
    "Name servers (127.0.0.1:53, [::1]:53) that resolve the records of sending domains. Unset: the system's."
  ),
  mailBounceDomain: Setting.optional(Setting.domainName)(
    "MAIL_BOUNCE_DOMAIN",
    "Domain of the return paths; its MX points to BOUNCE_PORT. Unset: later bounces and complaints stay unknown, except in the sandbox."
  ),
  bounceHost: Setting.text("BOUNCE_HOST", "127.0.0.1", "Address that the listener for bounces and complaints binds."),
  bouncePort: Setting.optional(Setting.int(0, 65535))(
    "BOUNCE_PORT",
    "Port where this node receives bounces and complaints by SMTP; 0 picks a free one. Unset: no listener; in the sandbox a free port."
  ),
  bounceTlsCertFile: Setting.optional(Setting.text)(
    "BOUNCE_TLS_CERT_FILE",
    "Certificate with its chain (PEM) for STARTTLS on BOUNCE_PORT; reloaded when it changes. Unset: no TLS."
  ),
  bounceTlsKeyFile: Setting.optional(Setting.text)("BOUNCE_TLS_KEY_FILE", "Private key (PEM) of that certificate."),
  ...whatsappSettings,
  smsProvider: Setting.optional(Setting.oneOf(["sandbox", "smpp", "http"]))(
    "SMS_PROVIDER",
    "Provider of SMS: smpp (see SMPP_URL), http (see SMS_HTTP_PROFILE), or sandbox, phones on this machine. Required in production. Unset: sandbox."
  ),
  smsSenderIds: Setting.optional(Setting.list)(
    "SMS_SENDER_IDS",
    "Sender ids that messages may use, the default first. Unset: any; the provider chooses the default."
  ),
  sandboxToken: Setting.optional(Setting.token)(
    "SANDBOX_TOKEN",
    "Token of the sandbox's pages, which show all messages to programs on this machine. Unset: generated in development and with SANDBOX_ALLOW; no pages in production."
  ),
  console: Setting.oneOf(["on", "off"])(
    "CONSOLE",
    "on",
    "Whether this node serves the console at /console: on or off. The pages of pairing links and of new passwords are there."
  ),
  consoleAllow: Setting.optional(Setting.networks)(
    "CONSOLE_ALLOW",
    "Addresses or networks (10.0.0.0/8) that may open the console, with the pages of pairing links and of new passwords. Others get 404. Unset: all."
  ),
  sandboxAllow: Setting.optional(Setting.networks)(
    "SANDBOX_ALLOW",
    "Addresses or networks (172.17.0.0/16) that may use the sandbox's pages besides this machine. The pages need their token there, too. Unset: none."
  ),
  sandboxSmsDelay: Setting.int(0, 600_000)(
    "SANDBOX_SMS_DELAY_MS",
    "500",
    "Milliseconds until the sandbox reports an SMS as delivered."
  ),
  smppUrl: Setting.optional(Setting.url(["smpp", "smpps"]))(
    "SMPP_URL",
    "URL of the carrier: smpp(s)://system_id:password@host:port, with ?bind=pair for a transmitter and a receiver. Required with SMS_PROVIDER=smpp."
  ),
  smppSystemType: Setting.optional(Setting.text)("SMPP_SYSTEM_TYPE", "The system_type of the bind. Unset: empty."),
  smppWindow: Setting.int(1, 2_000)("SMPP_WINDOW", "10", "Submits in flight on the bind."),
  smppMaxPerSecond: Setting.int(1, 100_000)("SMPP_MAX_PER_SECOND", "50", "Submits per second on the bind."),
  smppMessageIds: Setting.oneOf(["as-is", "hex-then-decimal", "decimal-then-hex"])(
    "SMPP_MESSAGE_IDS",
    "as-is",
    "Notation of message ids in the carrier's answers to submits, then in its receipts."
  ),
  smsHttpProfile: Setting.optional(Setting.text)(
    "SMS_HTTP_PROFILE",
    "Path of the file that describes an HTTP provider. Required with SMS_PROVIDER=http. See docs/sms/http.md."
  ),
  webhookAllowLoopback: Setting.optional(Setting.boolean)(
    "WEBHOOK_ALLOW_LOOPBACK",
    "Development only: allows webhooks to localhost, 127.0.0.1 and ::1, also over http. Unset: true in development, false in production."
  ),
  webhookTimeoutSeconds: Setting.int(1, 60)(
    "WEBHOOK_TIMEOUT_SECONDS",
    "10",
    "Seconds for a whole webhook attempt: DNS, connection, TLS, headers and body."
  ),
  webhookUnhealthyFailures: Setting.int(1, 1000)(
    "WEBHOOK_UNHEALTHY_FAILURES",
    "10",
    "Consecutive failed deliveries until a webhook is unhealthy."
  ),
  webhookUnhealthySeconds: Setting.int(0, 604_800)(
    "WEBHOOK_UNHEALTHY_SECONDS",
    "3600",
    "Seconds that a webhook must also have gone without a success before it is marked unhealthy."
  ),
  webhookPendingLimit: Setting.int(100, 10_000_000)(
    "WEBHOOK_PENDING_LIMIT",
    "100000",
    "Size limit of a webhook's backlog (first attempts and retries). Events beyond it are recorded as skipped."
  ),
  contentRetentionDays: Setting.int(1, 3_650)(
    "CONTENT_RETENTION_DAYS",
    "30",
    "Days that the texts and values of messages are kept."
  ),
  messageRetentionDays: Setting.int(1, 3_650)(
    "MESSAGE_RETENTION_DAYS",
    "90",
    "Days that messages and batches with their statuses are kept."
  ),
  eventRetentionDays: Setting.int(1, 366)(
    "EVENT_RETENTION_DAYS",
    "7",
    "Days that event payloads are kept for redelivery."
  ),
  deliveryRetentionDays: Setting.int(1, 366)(
    "DELIVERY_RETENTION_DAYS",
    "30",
    "Days that ended webhook deliveries and their attempts are kept."
  ),
  attemptRetentionDays: Setting.int(1, 366)(
    "ATTEMPT_RETENTION_DAYS",
    "30",
    "Days that the attempts of messages are kept for their timelines."
  ),
  requestLogRetentionDays: Setting.int(0, 366)("REQUEST_LOG_RETENTION_DAYS", "7", "Days of logged requests. 0: off."),
  logLevel: Setting.oneOf(["trace", "debug", "info", "warn", "warning", "error"])(
    "LOG_LEVEL",
    "info",
    "Lowest level that is logged: trace, debug, info, warn (or warning) or error."
  ),
  logFormat: Setting.optional(Setting.oneOf(["pretty", "json"]))(
    "LOG_FORMAT",
    "Format of the log: pretty or json. Unset: pretty on a terminal, else json."
  ),
  metricsPort: Setting.optional(Setting.int(1, 65535))(
    "METRICS_PORT",
    "Port of /metrics for Prometheus. Unset: no metrics."
  ),
  metricsHost: Setting.text("METRICS_HOST", "127.0.0.1", "Address that METRICS_PORT listens on. Metrics need no key."),
  otlpEndpoint: Setting.optional(Setting.url(["http", "https"], false))(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "Base URL of an OTLP/HTTP collector for traces. Unset: no traces."
  ),
  ...planSettings,
  highVolumeSms: Setting.int(1, 1_000_000_000)(
    "HIGH_VOLUME_SMS",
    "100000",
    "SMS in a month above which an account qualifies for volume pricing."
  ),
  ...rateLimitSettings,
  ...otpSettings
} as const

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
    "Connections of this node to PostgreSQL; the cluster and the queues of actors take 4 more each."
  ),
  databaseWaitSeconds: Setting.int(0, 3600)(
    "DATABASE_WAIT_SECONDS",
    "30",
    "How long a start waits for a PostgreSQL that does not answer yet before it gives up."
  ),
  dataDir: Setting.text("DATA_DIR", "./data", "Embedded database and generated encryption key."),
  encryptionKey: Setting.optional(Setting.key256)(
    "ENCRYPTION_KEY",
    "32 bytes in base64 that wrap all secrets at rest. Required with DATABASE_URL, else generated into DATA_DIR."
  ),
  encryptionKeyPrevious: Setting.optional(Setting.key256)(
    "ENCRYPTION_KEY_PREVIOUS",
    "The main key before ENCRYPTION_KEY, while it is being changed: what is sealed under it still opens."
  ),
  runnerHost: Setting.text("RUNNER_HOST", "127.0.0.1", "This node's address for the other nodes."),
  runnerPort: Setting.int(0, 65535)("RUNNER_PORT", "0", "This node's port for the other nodes; 0 takes a free one."),
  smtpUrl: Setting.optional(Setting.url(["smtp", "smtps"]))(
    "SMTP_URL",
    "smtp(s)://user:password@host:port of the relay. Unset: the sandbox's SMTP server and inbox."
  ),
  smtpConnections: Setting.int(2, 200)("SMTP_CONNECTIONS", "8", "Connections of this node to the relay."),
  smtpTimeoutSeconds: Setting.int(1, 600)("SMTP_TIMEOUT_SECONDS", "60", "Seconds of silence that end a conversation."),
  heloName: Setting.optional(Setting.domainName)(
    "HELO_NAME",
    "Full host name that this node gives the relay in EHLO. Unset: the machine's own, or [127.0.0.1]."
  ),
  mailFrom: Setting.text(
    "MAIL_FROM",
    "Messaging Service <no-reply@localhost.localdomain>",
    "Default sender: an address or Name <address>."
  ),
  spfIncludeHost: Setting.domainName(
    "SPF_INCLUDE_HOST",
    "spf.localhost.localdomain",
    "Host whose SPF record names the relay's addresses; the SPF records of sending domains include it."
  ),
  dnsServers: Setting.optional(Setting.nameServers)(
    "DNS_SERVERS",
    "Name servers (127.0.0.1:53, [::1]:53) that look up the records of sending domains. Unset: the system's."
  ),
  mailBounceDomain: Setting.optional(Setting.domainName)(
    "MAIL_BOUNCE_DOMAIN",
    "Domain of the return paths, whose MX leads to BOUNCE_PORT. Unset: later bounces and complaints stay unknown but in the sandbox."
  ),
  bounceHost: Setting.text("BOUNCE_HOST", "127.0.0.1", "Address that the listener for bounces and complaints binds."),
  bouncePort: Setting.optional(Setting.int(0, 65535))(
    "BOUNCE_PORT",
    "Port where this node takes bounces and complaints by SMTP; 0 takes a free one. Unset: none; a free one in the sandbox."
  ),
  bounceTlsCertFile: Setting.optional(Setting.text)(
    "BOUNCE_TLS_CERT_FILE",
    "Certificate with its chain (PEM) for STARTTLS on BOUNCE_PORT; read again when it changes. Unset: no TLS."
  ),
  bounceTlsKeyFile: Setting.optional(Setting.text)("BOUNCE_TLS_KEY_FILE", "The key (PEM) of that certificate."),
  whatsappUrl: Setting.optional(Setting.wordOr("live", Setting.url(["ws", "wss"], false)))(
    "WHATSAPP_URL",
    "live: the real WhatsApp; or the ws:// address of a server that speaks like it. Unset: the sandbox's simulated one."
  ),
  whatsappVersion: Setting.optional(Setting.version)(
    "WHATSAPP_VERSION",
    "Version of WhatsApp Web that sessions say they are, for when WhatsApp refuses the one of this release (405)."
  ),
  whatsappRetries: Setting.int(1, 1000)(
    "WHATSAPP_RETRIES",
    "30",
    "Connections of a WhatsApp session in a row that may come to nothing, before it has failed."
  ),
  whatsappRetrySeconds: Setting.int(1, 3600)(
    "WHATSAPP_RETRY_SECONDS",
    "1",
    "Pause before the first of them; each further pause is twice as long."
  ),
  whatsappRetryLongestSeconds: Setting.int(1, 86_400)(
    "WHATSAPP_RETRY_LONGEST_SECONDS",
    "300",
    "The longest of these pauses."
  ),
  whatsappPerMinute: Setting.int(0, 100_000)(
    "WHATSAPP_PER_MINUTE",
    "30",
    "Messages of a WhatsApp session in a minute, at most; 0: as many as there are."
  ),
  whatsappPerDay: Setting.int(0, 100_000)(
    "WHATSAPP_PER_DAY",
    "1000",
    "Messages of a WhatsApp session in 24 hours, at most; 0: as many as there are."
  ),
  whatsappPauseLeast: Setting.int(0, 60_000)(
    "WHATSAPP_PAUSE_MIN_MS",
    "1000",
    "The shortest pause between two messages of a WhatsApp session, in milliseconds."
  ),
  whatsappPauseMost: Setting.int(0, 60_000)(
    "WHATSAPP_PAUSE_MAX_MS",
    "3000",
    "The longest of these pauses, each of which is drawn by lot; 0: none."
  ),
  whatsappMediaMiB: Setting.int(1, 2_000)(
    "WHATSAPP_MEDIA_MIB",
    "64",
    "The largest file that is fetched from a URL to be sent over WhatsApp, in MiB."
  ),
  whatsappMediaAllowLoopback: Setting.boolean(
    "WHATSAPP_MEDIA_ALLOW_LOOPBACK",
    "false",
    "Development: files for WhatsApp from localhost, 127.0.0.1 and ::1, also by http."
  ),
  smsProvider: Setting.oneOf(["sandbox", "smpp", "http"])(
    "SMS_PROVIDER",
    "sandbox",
    "Who takes SMS: sandbox, smpp (SMPP_URL) or http (SMS_HTTP_PROFILE)."
  ),
  smsSenderIds: Setting.optional(Setting.list)(
    "SMS_SENDER_IDS",
    "Sender ids that messages may name, the default one first. Unset: any, and the provider's own by default."
  ),
  sandboxSmsDelay: Setting.int(0, 600_000)(
    "SANDBOX_SMS_DELAY_MS",
    "500",
    "Milliseconds after which the sandbox says that an SMS was delivered."
  ),
  smppUrl: Setting.optional(Setting.url(["smpp", "smpps"]))(
    "SMPP_URL",
    "smpp(s)://system_id:password@host:port of the carrier; required with SMS_PROVIDER=smpp."
  ),
  smppSystemType: Setting.optional(Setting.text)("SMPP_SYSTEM_TYPE", "The system_type of the bind. Unset: empty."),
  smppWindow: Setting.int(1, 2_000)("SMPP_WINDOW", "10", "Submits under way at once on the bind."),
  smppMaxPerSecond: Setting.int(1, 100_000)("SMPP_MAX_PER_SECOND", "50", "Submits per second on the bind, at most."),
  smppMessageIds: Setting.oneOf(["as-is", "hex-then-decimal", "decimal-then-hex"])(
    "SMPP_MESSAGE_IDS",
    "as-is",
    "How message ids are written in the answers to submits, and then in receipts."
  ),
  smsHttpProfile: Setting.optional(Setting.text)(
    "SMS_HTTP_PROFILE",
    "File that says how an HTTP provider is asked; required with SMS_PROVIDER=http. See docs/sms/http.md."
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
  webhookUnhealthyFailures: Setting.int(1, 1000)(
    "WEBHOOK_UNHEALTHY_FAILURES",
    "10",
    "Deliveries in a row that used up all attempts, after which a webhook is unhealthy."
  ),
  webhookUnhealthySeconds: Setting.int(0, 604_800)(
    "WEBHOOK_UNHEALTHY_SECONDS",
    "3600",
    "For how long nothing must have succeeded as well, before a webhook is unhealthy."
  ),
  webhookPendingLimit: Setting.int(100, 10_000_000)(
    "WEBHOOK_PENDING_LIMIT",
    "100000",
    "First attempts that may wait for one webhook; events beyond it are recorded as skipped."
  ),
  eventRetentionDays: Setting.int(1, 366)(
    "EVENT_RETENTION_DAYS",
    "7",
    "Days that the payloads of events are kept for redelivery."
  ),
  deliveryRetentionDays: Setting.int(1, 366)(
    "DELIVERY_RETENTION_DAYS",
    "30",
    "Days that ended webhook deliveries and their attempts are kept."
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
  emailQuotaStarter: Setting.quota("EMAIL_QUOTA_STARTER", "5000", "Emails (recipients) a month, Starter plan."),
  emailQuotaGrowth: Setting.quota("EMAIL_QUOTA_GROWTH", "25000", "Emails (recipients) a month, Growth plan."),
  emailQuotaBusiness: Setting.quota("EMAIL_QUOTA_BUSINESS", "100000", "Emails (recipients) a month, Business plan."),
  emailQuotaEnterprise: Setting.quota(
    "EMAIL_QUOTA_ENTERPRISE",
    "unlimited",
    "Emails (recipients) a month, Enterprise plan."
  ),
  smsQuotaStarter: Setting.quota("SMS_QUOTA_STARTER", "100", "SMS a month, Starter plan."),
  smsQuotaGrowth: Setting.quota("SMS_QUOTA_GROWTH", "500", "SMS a month, Growth plan."),
  smsQuotaBusiness: Setting.quota("SMS_QUOTA_BUSINESS", "2000", "SMS a month, Business plan."),
  smsQuotaEnterprise: Setting.quota("SMS_QUOTA_ENTERPRISE", "unlimited", "SMS a month, Enterprise plan."),
  otpQuotaStarter: Setting.quota("OTP_QUOTA_STARTER", "200", "One-time codes a month, Starter plan."),
  otpQuotaGrowth: Setting.quota("OTP_QUOTA_GROWTH", "1000", "One-time codes a month, Growth plan."),
  otpQuotaBusiness: Setting.quota("OTP_QUOTA_BUSINESS", "5000", "One-time codes a month, Business plan."),
  otpQuotaEnterprise: Setting.quota("OTP_QUOTA_ENTERPRISE", "unlimited", "One-time codes a month, Enterprise plan."),
  whatsappSessionLimitStarter: Setting.quota(
    "WHATSAPP_SESSION_LIMIT_STARTER",
    "1",
    "WhatsApp sessions at once, Starter plan."
  ),
  whatsappSessionLimitGrowth: Setting.quota(
    "WHATSAPP_SESSION_LIMIT_GROWTH",
    "3",
    "WhatsApp sessions at once, Growth plan."
  ),
  whatsappSessionLimitBusiness: Setting.quota(
    "WHATSAPP_SESSION_LIMIT_BUSINESS",
    "10",
    "WhatsApp sessions at once, Business plan."
  ),
  whatsappSessionLimitEnterprise: Setting.quota(
    "WHATSAPP_SESSION_LIMIT_ENTERPRISE",
    "unlimited",
    "WhatsApp sessions at once, Enterprise plan."
  ),
  highVolumeSms: Setting.int(1, 1_000_000_000)(
    "HIGH_VOLUME_SMS",
    "100000",
    "SMS a month above which an account is told to ask for a price of its own."
  ),
  rateLimitLogin: Setting.int(1, 1_000_000)(
    "RATE_LIMIT_LOGIN",
    "20",
    "Logins and registrations per client address and minute."
  ),
  rateLimitPricing: Setting.int(1, 1_000_000)(
    "RATE_LIMIT_PRICING",
    "60",
    "Requests for the public SMS prices per client address and minute."
  ),
  rateLimitCodeCheck: Setting.int(1, 1_000_000)(
    "RATE_LIMIT_CODE_CHECK",
    "20",
    "Checks of one-time codes per client address and minute."
  ),
  otpLimitHour: Setting.int(1, 1_000)("OTP_LIMIT_HOUR", "5", "One-time codes to a recipient in an hour."),
  otpLimitDay: Setting.int(1, 10_000)("OTP_LIMIT_DAY", "20", "One-time codes to a recipient in a day."),
  otpLimitClientIp: Setting.int(1, 1_000_000)(
    "OTP_LIMIT_CLIENT_IP",
    "10",
    "One-time codes that a person's address (client_ip) asks for in an hour."
  ),
  otpLimitPrefix: Setting.int(1, 1_000_000)(
    "OTP_LIMIT_PREFIX",
    "20",
    "One-time codes in an hour to phone numbers that differ in their last four digits alone."
  ),
  otpCountries: Setting.optional(Setting.countries)("OTP_COUNTRIES", "Countries whose numbers get codes. Unset: all."),
  otpResendSeconds: Setting.int(0, 600)(
    "OTP_RESEND_SECONDS",
    "30",
    "Seconds between two one-time codes to a recipient."
  ),
  otpAttempts: Setting.int(1, 20)("OTP_ATTEMPTS", "5", "Wrong codes that end a verification.")
} as const

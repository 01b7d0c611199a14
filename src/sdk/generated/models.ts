// Generated from docs/openapi.json by `node scripts/openapi.ts`. Do not edit.

export interface AcceptedEmail {
  readonly id: number
  /** The same as id, by the name that the other channels use */
  readonly message_id: number
  /** One address as a string, several as an array */
  readonly to: string | ReadonlyArray<string>
  /** suppressed: the account must not email any of the recipients */
  readonly status: "queued" | "scheduled" | "suppressed"
  /** When a scheduled message is due. null if it was not scheduled */
  readonly send_at: string | null
  /**
   * Problems that large receivers may have with this mail, by its domain's last DNS check and the service's
   * settings
   */
  readonly warnings: ReadonlyArray<string>
}

export interface AcceptedEmailBatch {
  readonly batch_id: string
  readonly total_recipients: number
  readonly status: "queued" | "scheduled"
  /** When a scheduled message is due. null if it was not scheduled */
  readonly send_at: string | null
  readonly message: string
  /**
   * Problems that large receivers may have with this mail, by its domain's last DNS check and the service's
   * settings
   */
  readonly warnings: ReadonlyArray<string>
}

export interface AcceptedSms {
  readonly id: number
  /** The same as id */
  readonly message_id: number
  readonly to: string
  readonly status: "queued" | "scheduled"
  /** When a scheduled message is due. null if it was not scheduled */
  readonly send_at: string | null
  readonly segments: number
  readonly cost_usd: number
}

export interface AcceptedSmsBatch {
  readonly batch_id: string
  readonly total_recipients: number
  readonly status: "queued" | "scheduled"
  /** When a scheduled message is due. null if it was not scheduled */
  readonly send_at: string | null
  readonly message: string
  /** Of all messages */
  readonly segments: number
  readonly cost_usd: number
}

export interface AcceptedWhatsAppBatch {
  readonly batch_id: string
  readonly total_recipients: number
  readonly status: "queued" | "scheduled"
  /** When a scheduled message is due. null if it was not scheduled */
  readonly send_at: string | null
  readonly message: string
}

export interface AcceptedWhatsAppMessage {
  readonly id: number
  /** The same as id */
  readonly message_id: number
  readonly session_id: number
  readonly to: string
  readonly type: "text" | "image" | "video" | "audio" | "document" | "location" | "contact" | "poll" | "reaction"
  readonly status: "queued" | "scheduled"
  /** When a scheduled message is due. null if it was not scheduled */
  readonly send_at: string | null
}

export interface Account {
  readonly id: number
  readonly name: string
  readonly email: string
  /** The requested new address, until it is confirmed from there, within 24 hours */
  readonly pending_email: string | null
  readonly plan: "starter" | "growth" | "business" | "enterprise"
  readonly status: "active" | "trial" | "trial_over"
  readonly trial_ends_at: string | null
  readonly timezone: "UTC" | "America/New_York" | "America/Los_Angeles" | "America/Chicago" | "Europe/London" | "Europe/Berlin" | "Europe/Paris" | "Asia/Tokyo" | "Asia/Shanghai" | "Asia/Dubai" | "Africa/Nairobi" | "Africa/Kigali" | "Africa/Lagos" | "Australia/Sydney" | "Pacific/Auckland"
  readonly locale: "en" | "fr" | "es" | "pt" | "de" | "ar" | "sw" | "rw"
  readonly created_at: string
}

export interface AccountRemoval {
  /** The word DELETE */
  readonly confirmation: string
}

export interface AddedEmailDomain {
  readonly id: number
  readonly domain: string
  readonly status: "pending" | "verified"
  readonly dns_records: ReadonlyArray<{
    readonly type: "TXT" | "MX"
    readonly name: string
    readonly value: string
    readonly purpose: "DKIM" | "SPF" | "DMARC" | "MX"
  }>
}

export interface ApiKey {
  readonly id: number
  readonly name: string
  readonly key_prefix: string
  /** test: of a test key, whose messages go to the sandbox */
  readonly mode: "live" | "test"
  readonly scopes: ReadonlyArray<"whatsapp:read" | "whatsapp:write" | "sms:write" | "email:write" | "verify:write" | "account:read">
  readonly permissions: ReadonlyArray<"sessions:read" | "sessions:write" | "messages:read" | "messages:write" | "contacts:read" | "contacts:write" | "groups:read" | "groups:write" | "emails:read" | "emails:write" | "domains:read" | "domains:write" | "templates:read" | "templates:write" | "sms:read" | "sms:write" | "verify:read" | "verify:write" | "webhooks:read" | "webhooks:write" | "keys:read" | "keys:write" | "account:read" | "account:write" | "members:read" | "members:write" | "requests:read" | "requests:write">
  readonly expires_at: string | null
  readonly created_at: string
  /** Recorded at most once a minute, as the next two */
  readonly last_used_at: string | null
  /** The address of that request */
  readonly last_used_ip: string | null
  /** The method and the endpoint of that request, such as `GET /v1/email/messages/{id}` */
  readonly last_used_endpoint: string | null
  readonly requests: KeyRequests
  /** When another key replaced this one */
  readonly rotated_at: string | null
  readonly is_active: boolean
}

export interface AttentionItem {
  readonly code: "webhook_unhealthy" | "webhook_failing" | "session_failed" | "session_disconnected" | "session_unpaired" | "domain_lost" | "domain_pending" | "bounces_high" | "complaints_high" | "quota_reached" | "quota_near" | "trial_ending" | "relay_away" | "carrier_away" | "queue_late" | "codes_late" | "codes_blocked" | "key_expiring" | "key_unused" | "no_second_factor"
  /** `bad`: messages or events do not arrive */
  readonly severity: "bad" | "warn"
  readonly since: string | null
  /** The webhook, session, domain, key, resource or prefix that it is about */
  readonly subject: {
    readonly id: number | string
    readonly name: string
  } | null
  readonly message: string
}

export interface BillingReport {
  readonly plan: "starter" | "growth" | "business" | "enterprise"
  readonly status: "active" | "trial" | "trial_over"
  readonly trial_ends_at: string | null
  readonly period: {
    readonly from: string
    readonly to: string
  }
  readonly currency: "USD"
  /** US dollars */
  readonly amount_usd: number
  readonly lines: ReadonlyArray<{
    readonly date: string
    readonly metric: "email" | "sms" | "otp" | "email_sent" | "sms_segments" | "whatsapp"
    readonly quantity: number
    /** US dollars */
    readonly amount_usd: number
  }>
}

export interface BlockedPrefix {
  /** The numbers without their last four digits, such as +25078811 */
  readonly prefix: string
  readonly since: string
  readonly until: string
}

export type CheckedCode = {
  readonly id: string
  readonly valid: true
  readonly verified_at: string
} | {
  readonly id: string
  readonly valid: false
  readonly attempts_remaining: number
}

export interface CheckedEmailDomain {
  readonly id: number
  readonly domain: string
  readonly status: "pending" | "verified"
  readonly dns_records: ReadonlyArray<{
    readonly type: "TXT" | "MX"
    readonly name: string
    readonly value: string
    readonly purpose: "DKIM" | "SPF" | "DMARC" | "MX"
    readonly status: "verified" | "missing" | "mismatch" | "conflict" | "temporary_error"
    readonly found: ReadonlyArray<string>
    readonly detail: string
  }>
  readonly checked_at: string
}

export interface CodeCheck {
  readonly code: string
  readonly id?: string | undefined
  /** A phone number with its country code, or an email address */
  readonly to?: string | undefined
}

export interface CreatedApiKey {
  readonly id: number
  readonly name: string
  readonly key_prefix: string
  /** test: of a test key, whose messages go to the sandbox */
  readonly mode: "live" | "test"
  readonly scopes: ReadonlyArray<"whatsapp:read" | "whatsapp:write" | "sms:write" | "email:write" | "verify:write" | "account:read">
  readonly permissions: ReadonlyArray<"sessions:read" | "sessions:write" | "messages:read" | "messages:write" | "contacts:read" | "contacts:write" | "groups:read" | "groups:write" | "emails:read" | "emails:write" | "domains:read" | "domains:write" | "templates:read" | "templates:write" | "sms:read" | "sms:write" | "verify:read" | "verify:write" | "webhooks:read" | "webhooks:write" | "keys:read" | "keys:write" | "account:read" | "account:write" | "members:read" | "members:write" | "requests:read" | "requests:write">
  readonly expires_at: string | null
  readonly created_at: string
  readonly key: string
}

export interface CreatedWhatsAppSession {
  readonly id: number
  /** internal identifier; callers normally do not need it */
  readonly session_key: string
  readonly name: string
  readonly status: "pending" | "connected" | "disconnected" | "failed"
  /** digits; null until a phone is paired */
  readonly phone_number: string | null
  readonly created_at: string
  /** data URL of a PNG, to scan with the phone */
  readonly qr_code: string
}

export interface DailyUsage {
  readonly date: string
  readonly metric: "email" | "sms" | "otp" | "email_sent" | "sms_segments" | "whatsapp"
  readonly count: number
  /** US dollars */
  readonly cost_usd: number
}

export interface DeletedSandboxFaults {
  readonly deleted: number
}

export interface DeletedSandboxMessages {
  readonly deleted: number
}

export interface EmailBatch {
  readonly batch_id: string
  readonly status: "scheduled" | "queued" | "processing" | "completed" | "failed" | "canceled"
  readonly total: number
  readonly queued: number
  readonly sent: number
  readonly failed: number
  readonly suppressed: number
  readonly canceled: number
  readonly tags: ReadonlyArray<string>
  readonly metadata: { readonly [name: string]: string }
  /** When a scheduled message is due. null if it was not scheduled */
  readonly send_at: string | null
  /** test: of a test key, whose messages go to the sandbox */
  readonly mode: "live" | "test"
  readonly created_at: string
  /** When its first message began to be sent */
  readonly started_at: string | null
  readonly completed_at: string | null
  /** The batch that sends it again to the failed recipients */
  readonly resent_as: string | null
}

export interface EmailBatchRecipient {
  readonly id: number
  readonly to: string
  readonly status: "scheduled" | "queued" | "sent" | "delivered" | "opened" | "clicked" | "bounced" | "complained" | "failed" | "suppressed" | "canceled"
  readonly attempt_count: number
  readonly next_attempt_at: string | null
  readonly bounce_type: "hard" | "soft" | null
  readonly error: string | null
  readonly sent_at: string | null
  /** Times that the mail was opened, including by programs */
  readonly opens: number
  /** Times that its links were clicked, including by programs */
  readonly clicks: number
}

export interface EmailDomain {
  readonly id: number
  readonly domain: string
  readonly status: "pending" | "verified"
  readonly dns_records: ReadonlyArray<{
    readonly type: "TXT" | "MX"
    readonly name: string
    readonly value: string
    readonly purpose: "DKIM" | "SPF" | "DMARC" | "MX"
  }>
  /** Why large receivers may refuse mail from this domain, as of the last check */
  readonly warnings: ReadonlyArray<string>
  /** Whether opens of its mail are tracked */
  readonly track_opens: boolean
  /** Whether clicks in its mail are tracked */
  readonly track_clicks: boolean
  readonly checked_at: string | null
  readonly created_at: string
}

export interface EmailDomainChange {
  /** Whether opens of its mail are tracked */
  readonly track_opens?: boolean | undefined
  /** Whether clicks in its mail are tracked */
  readonly track_clicks?: boolean | undefined
}

export interface EmailMessage {
  readonly id: number
  /** One address as a string, several as an array */
  readonly to: string | ReadonlyArray<string>
  readonly from: string
  readonly subject: string
  readonly template_id: string | null
  readonly batch_id: string | null
  readonly opens: number
  readonly clicks: number
  readonly tags: ReadonlyArray<string>
  readonly metadata: { readonly [name: string]: string }
  /** When a scheduled message is due. null if it was not scheduled */
  readonly send_at: string | null
  /** test: of a test key, whose messages go to the sandbox */
  readonly mode: "live" | "test"
  /** The message with failover that this one is a step of; null for any other */
  readonly failover_id: string | null
  readonly status: "scheduled" | "queued" | "sent" | "delivered" | "opened" | "clicked" | "bounced" | "complained" | "failed" | "suppressed" | "canceled"
  readonly bounce_type: "hard" | "soft" | null
  readonly error: string | null
  readonly sent_at: string | null
  readonly delivered_at: string | null
  readonly opened_at: string | null
  readonly clicked_at: string | null
  readonly created_at: string
}

export interface EmailMessageContent {
  /** An address, or Name <address> */
  readonly from: string
  readonly reply_to: string | null
  readonly subject: string
  /** null without HTML, and once it is no longer kept */
  readonly html: string | null
  /** null once it is no longer kept */
  readonly text: string | null
  readonly attachments: ReadonlyArray<{
    readonly filename: string | null
    readonly content_type: string | null
    /** In bytes */
    readonly size: number
  }>
}

export interface EmailMessageDetails {
  readonly id: number
  /** One address as a string, several as an array */
  readonly to: string | ReadonlyArray<string>
  readonly from: string
  readonly subject: string
  readonly template_id: string | null
  readonly batch_id: string | null
  readonly opens: number
  readonly clicks: number
  readonly tags: ReadonlyArray<string>
  readonly metadata: { readonly [name: string]: string }
  /** When a scheduled message is due. null if it was not scheduled */
  readonly send_at: string | null
  /** test: of a test key, whose messages go to the sandbox */
  readonly mode: "live" | "test"
  /** The message with failover that this one is a step of; null for any other */
  readonly failover_id: string | null
  readonly status: "scheduled" | "queued" | "sent" | "delivered" | "opened" | "clicked" | "bounced" | "complained" | "failed" | "suppressed" | "canceled"
  readonly bounce_type: "hard" | "soft" | null
  readonly error: string | null
  readonly sent_at: string | null
  readonly delivered_at: string | null
  readonly opened_at: string | null
  readonly clicked_at: string | null
  readonly created_at: string
  /**
   * The Message-ID of the mail, which its readers and other mail servers know. message_id of the other answers is
   * the id of the record. null for a single email that an earlier version accepted. A person who knows it can
   * report this mail as bounced or as spam, as its receiver can
   */
  readonly internet_message_id: string | null
  readonly recipients: ReadonlyArray<{
    readonly to: string
    readonly kind: "to" | "cc" | "bcc"
    readonly opens: number
    readonly clicks: number
    readonly status: "scheduled" | "queued" | "sent" | "delivered" | "opened" | "clicked" | "bounced" | "complained" | "failed" | "suppressed" | "canceled"
    readonly bounce_type: "hard" | "soft" | null
    readonly error: string | null
    readonly sent_at: string | null
    readonly delivered_at: string | null
    readonly opened_at: string | null
    readonly clicked_at: string | null
  }>
}

export interface EmailTemplate {
  readonly id: string
  readonly numeric_id: number
  readonly name: string
  readonly subject: string
  readonly html: string
  readonly text: string | null
  readonly variables: ReadonlyArray<string>
  readonly created_at: string
  readonly updated_at: string
}

export interface EmailTemplateChange {
  /** A name for people. It need not be unique */
  readonly name?: string | undefined
  readonly subject?: string | undefined
  /** Contains {{variable}} for each value */
  readonly html?: string | undefined
  /** Alias of html */
  readonly body_html?: string | undefined
  /** The plain text. If absent or null, it is derived from the HTML */
  readonly text?: string | null | undefined
  /** Alias of text */
  readonly body_text?: string | null | undefined
}

export interface EmailTemplateSummary {
  readonly id: string
  readonly numeric_id: number
  readonly name: string
  readonly subject: string
  readonly variables: ReadonlyArray<string>
  readonly created_at: string
  readonly updated_at: string
}

export interface EmailTemplateVersion {
  readonly id: number
  /** When a change replaced these texts */
  readonly created_at: string
  readonly subject: string
  readonly html: string
  readonly text: string | null
}

export interface EmailTemplateVersionSummary {
  readonly id: number
  /** When a change replaced these texts */
  readonly created_at: string
  readonly subject: string
}

export interface Failover {
  readonly id: string
  readonly to: {
    readonly phone: string | null
    readonly email: string | null
  }
  /** The best that any step has reached */
  readonly status: "scheduled" | "queued" | "processing" | "sent" | "delivered" | "read" | "failed" | "canceled"
  readonly steps: ReadonlyArray<FailoverStep>
  readonly cost_usd: number
  readonly tags: ReadonlyArray<string>
  readonly metadata: { readonly [name: string]: string }
  /** When a scheduled message is due. null if it was not scheduled */
  readonly send_at: string | null
  /** test: of a test key, whose messages go to the sandbox */
  readonly mode: "live" | "test"
  readonly canceled_at: string | null
  readonly completed_at: string | null
  readonly created_at: string
  readonly updated_at: string
}

export interface FailoverStep {
  readonly channel: "whatsapp" | "sms" | "email"
  readonly to: string
  readonly until: "sent" | "delivered" | "read"
  readonly within_seconds: number
  readonly status: "waiting" | "queued" | "sent" | "delivered" | "read" | "failed" | "canceled"
  /** null before it begins, or if it was refused then */
  readonly message_id: number | null
  readonly error: string | null
  readonly cost_usd: number | null
  readonly begun_at: string | null
  readonly sent_at: string | null
  readonly delivered_at: string | null
  /** The path of its message */
  readonly href: string | null
}

/** Of today and the six days before, in UTC. Counted within some seconds of the answer */
export interface KeyRequests {
  /** Below 400 */
  readonly succeeded: number
  /** From 400 to 499 */
  readonly refused: number
  /** From 500 on */
  readonly failed: number
}

export interface KeyRotation {
  /**
   * How many seconds the previous key still works. It never works longer than it would have without the rotation;
   * default 86400 (one day)
   */
  readonly overlap_seconds?: number | undefined
  /** The end of the new key, null for none. Absent: it lives as long as the previous key was made to live */
  readonly expires_at?: string | null | undefined
  /**
   * Proves that the owner asks: required for a key with more rights than the caller's, and for a key that outlives
   * a login older than 15 minutes
   */
  readonly current_password?: string | undefined
}

export interface Login {
  readonly account: Account
  readonly token: string
  readonly expires_at: string
}

export interface LoginSession {
  readonly id: number
  readonly created_at: string
  readonly last_used_at: string | null
  readonly expires_at: string
  /** The address that logged in */
  readonly client_address: string | null
  /** The program that logged in, as it called itself */
  readonly user_agent: string | null
  /** Whether this request uses the session */
  readonly is_current: boolean
}

export interface Member {
  readonly id: number
  readonly name: string
  readonly email: string
  readonly role: "owner" | "admin" | "developer" | "support"
  readonly has_second_factor: boolean
  readonly last_sign_in_at: string | null
  /** When the person got the role */
  readonly created_at: string
}

export interface Message {
  readonly id: number
  readonly channel: "whatsapp" | "sms"
  readonly session_id: number | null
  readonly direction: "in" | "out"
  readonly from: string | null
  readonly to: string
  readonly type: string
  /** null once it is older than contents are kept */
  readonly content: {
    readonly body: string
  } & { readonly [name: string]: unknown } | null
  readonly status: "scheduled" | "queued" | "sent" | "delivered" | "read" | "failed" | "received" | "canceled"
  readonly error_code: string | null
  readonly error_message: string | null
  readonly segments: number | null
  readonly cost_usd: number | null
  readonly batch_id: string | null
  readonly tags: ReadonlyArray<string>
  readonly metadata: { readonly [name: string]: string }
  /** When a scheduled message is due. null if it was not scheduled */
  readonly send_at: string | null
  /** test: of a test key, whose messages go to the sandbox */
  readonly mode: "live" | "test"
  /** The message with failover that this one is a step of; null for any other */
  readonly failover_id: string | null
  readonly sent_at: string | null
  readonly delivered_at: string | null
  readonly read_at: string | null
  readonly failed_at: string | null
  readonly created_at: string
}

export interface MessageBatch {
  readonly batch_id: string
  readonly status: "scheduled" | "queued" | "processing" | "completed" | "failed" | "canceled"
  readonly total: number
  readonly queued: number
  readonly sent: number
  readonly failed: number
  readonly suppressed: number
  readonly canceled: number
  readonly tags: ReadonlyArray<string>
  readonly metadata: { readonly [name: string]: string }
  /** When a scheduled message is due. null if it was not scheduled */
  readonly send_at: string | null
  /** test: of a test key, whose messages go to the sandbox */
  readonly mode: "live" | "test"
  readonly created_at: string
  /** When its first message was sent or failed. null for a batch that was canceled before */
  readonly started_at: string | null
  readonly completed_at: string | null
  /** The batch that sends it again to the failed recipients */
  readonly resent_as: string | null
}

export interface MessageStatistics {
  /** When the hour or the day began */
  readonly at: string
  readonly channel: "email" | "sms" | "whatsapp"
  readonly outcome: "accepted" | "sent" | "delivered" | "read" | "failed" | "suppressed" | "canceled" | "complained" | "received"
  /** Why they failed, such as an error code; else empty */
  readonly reason: string
  readonly count: number
}

export interface MessageSummary {
  /** unique within the channel */
  readonly id: number | string
  readonly channel: "email" | "sms" | "whatsapp"
  readonly direction: "in" | "out"
  /** The sender; null if WhatsApp hides its number, or if the session or the carrier sets it */
  readonly from: string | null
  /** a list for an email to several addresses */
  readonly to: string | ReadonlyArray<string>
  readonly status: "scheduled" | "queued" | "sent" | "delivered" | "opened" | "clicked" | "read" | "received" | "bounced" | "complained" | "failed" | "suppressed" | "canceled"
  /** `email`, `code`, or the type of a WhatsApp message */
  readonly type: string
  readonly batch_id: string | null
  readonly failover_id: string | null
  readonly tags: ReadonlyArray<string>
  readonly metadata: { readonly [name: string]: string }
  /** test: of a test key, whose messages go to the sandbox */
  readonly mode: "live" | "test"
  /** The subject of an email, or the first 200 characters of a text; empty once it is older than contents are kept */
  readonly preview: string
  readonly error: string | null
  readonly created_at: string
  /** when the status last changed */
  readonly updated_at: string
  /** the path of the whole record */
  readonly href: string
}

export interface NewAccount {
  readonly name: string
  /** An email address */
  readonly email: string
  readonly password: string
  readonly timezone?: "UTC" | "America/New_York" | "America/Los_Angeles" | "America/Chicago" | "Europe/London" | "Europe/Berlin" | "Europe/Paris" | "Asia/Tokyo" | "Asia/Shanghai" | "Asia/Dubai" | "Africa/Nairobi" | "Africa/Kigali" | "Africa/Lagos" | "Australia/Sydney" | "Pacific/Auckland" | undefined
  readonly locale?: "en" | "fr" | "es" | "pt" | "de" | "ar" | "sw" | "rw" | undefined
}

export interface NewApiKey {
  readonly name: string
  readonly scopes?: ReadonlyArray<"whatsapp:read" | "whatsapp:write" | "sms:write" | "email:write" | "verify:write" | "account:read"> | undefined
  readonly permissions?: ReadonlyArray<"sessions:read" | "sessions:write" | "messages:read" | "messages:write" | "contacts:read" | "contacts:write" | "groups:read" | "groups:write" | "emails:read" | "emails:write" | "domains:read" | "domains:write" | "templates:read" | "templates:write" | "sms:read" | "sms:write" | "verify:read" | "verify:write" | "webhooks:read" | "webhooks:write" | "keys:read" | "keys:write" | "account:read" | "account:write" | "members:read" | "members:write" | "requests:read" | "requests:write"> | undefined
  readonly expires_at?: string | null | undefined
  /**
   * test: messages go to the sandbox, and nothing of the key mixes with live data. Absent: the mode of the caller's
   * key. A test key creates test keys only
   */
  readonly mode?: "live" | "test" | undefined
  /**
   * Proves that the owner asks: required for a key with more rights than the caller's, and for a key that outlives
   * a login older than 15 minutes
   */
  readonly current_password?: string | undefined
}

export interface NewEmail {
  /** An address, or an array of up to 50. The name of Name <address> is not sent */
  readonly to: string | ReadonlyArray<string>
  /** As to. All recipients see these addresses */
  readonly cc?: string | ReadonlyArray<string> | undefined
  /** As to. Other recipients do not see these addresses: no header names them */
  readonly bcc?: string | ReadonlyArray<string> | undefined
  /** The address, or Name <address>, that replies go to. Its domain needs no verification */
  readonly reply_to?: string | undefined
  /** Required without text and template_id. {{variables}} are filled in and escaped */
  readonly html?: string | undefined
  readonly send_at?: string | null | undefined
  /** Up to 10 words by which lists and usage are filtered */
  readonly tags?: ReadonlyArray<string> | undefined
  /** Up to 20 texts by name, which the record and the events of the message repeat. Logs never have them */
  readonly metadata?: { readonly [name: string]: string } | undefined
  /**
   * Further header fields: In-Reply-To, References, Auto-Submitted, Precedence, List-* except List-Unsubscribe and
   * List-Unsubscribe-Post, and X-*. The DKIM signature covers them
   */
  readonly headers?: { readonly [name: string]: string } | undefined
  /** An address, or Name <address>, of a verified domain. Default: the service's default sender */
  readonly from?: string | undefined
  /** The sender's name; replaces the name in from. The default sender adds its own: Shop via Example */
  readonly from_name?: string | undefined
  /** A stored template instead of html and text. Its number also works, but is deprecated */
  readonly template_id?: string | number | undefined
  /** Required without template_id; otherwise it replaces the template's subject. {{variables}} are filled in */
  readonly subject?: string | undefined
  /** For readers without HTML. Default: made from html */
  readonly text?: string | undefined
  /** Whether to record opens; overrides the domain's setting */
  readonly track_opens?: boolean | undefined
  /** Whether to record clicks; overrides the domain's setting */
  readonly track_clicks?: boolean | undefined
  /** Values for {{name}} and, one level down, {{user.name}}. Escaped in HTML. Lists and deeper values are ignored */
  readonly variables?: { readonly [name: string]: unknown } | undefined
  /** Up to 10 files, 7 MiB together, decoded */
  readonly attachments?: ReadonlyArray<{
    /** The name that the reader sees */
    readonly filename: string
    /** The file in base64 */
    readonly content: string
    /** A media type. Default: application/octet-stream, also for multipart and message types, which base64 would break */
    readonly content_type?: string | undefined
  }> | undefined
}

export interface NewEmailBatch {
  /** Each recipient has an address and values. A plain string is an address without values */
  readonly recipients: ReadonlyArray<string | {
    /** An address, or Name <address> */
    readonly to: string
    /** Values for {{name}} and, one level down, {{user.name}}. Escaped in HTML. Lists and deeper values are ignored */
    readonly variables?: { readonly [name: string]: unknown } | undefined
  }>
  /** Values for all recipients. A recipient's own values take precedence */
  readonly variables?: { readonly [name: string]: unknown } | undefined
  /** Required without text and template_id. {{variables}} are filled in and escaped */
  readonly html?: string | undefined
  readonly send_at?: string | null | undefined
  /** Up to 10 words by which lists and usage are filtered */
  readonly tags?: ReadonlyArray<string> | undefined
  /** Up to 20 texts by name, which the record and the events of the message repeat. Logs never have them */
  readonly metadata?: { readonly [name: string]: string } | undefined
  /**
   * Further header fields: In-Reply-To, References, Auto-Submitted, Precedence, List-* except List-Unsubscribe and
   * List-Unsubscribe-Post, and X-*. The DKIM signature covers them
   */
  readonly headers?: { readonly [name: string]: string } | undefined
  /** An address, or Name <address>, of a verified domain. Default: the service's default sender */
  readonly from?: string | undefined
  /** The sender's name; replaces the name in from. The default sender adds its own: Shop via Example */
  readonly from_name?: string | undefined
  /** A stored template instead of html and text. Its number also works, but is deprecated */
  readonly template_id?: string | number | undefined
  /** Required without template_id; otherwise it replaces the template's subject. {{variables}} are filled in */
  readonly subject?: string | undefined
  /** For readers without HTML. Default: made from html */
  readonly text?: string | undefined
  /** Whether to record opens; overrides the domain's setting */
  readonly track_opens?: boolean | undefined
  /** Whether to record clicks; overrides the domain's setting */
  readonly track_clicks?: boolean | undefined
}

export interface NewEmailDomain {
  /** A domain name */
  readonly domain: string
}

export interface NewEmailTemplate {
  /** A name for people. It need not be unique */
  readonly name: string
  readonly subject: string
  /** Contains {{variable}} for each value */
  readonly html?: string | undefined
  /** Alias of html */
  readonly body_html?: string | undefined
  /** The plain text. If absent or null, it is derived from the HTML */
  readonly text?: string | null | undefined
  /** Alias of text */
  readonly body_text?: string | null | undefined
}

export interface NewFailover {
  /** The person's addresses. A step may have its own */
  readonly to: {
    /** A phone number with its country code; the + may be left out */
    readonly phone?: string | undefined
    /** An email address */
    readonly email?: string | undefined
  }
  readonly steps: ReadonlyArray<{
    readonly channel: "whatsapp"
    /** What the step has to reach; defaults to delivered. SMS carriers never say read */
    readonly until?: "sent" | "delivered" | "read" | undefined
    /**
     * Seconds for that, from the moment the channel hands the message over; defaults to 300. A message that still
     * waits by then, from the step's beginning, is withdrawn
     */
    readonly within_seconds?: number | undefined
    readonly session_id: number
    /** Default: text */
    readonly type?: "text" | "image" | "video" | "audio" | "document" | "location" | "contact" | "poll" | "reaction" | undefined
    /**
     * Depends on type: text {body}; image, video, document, audio {url or base64, caption, filename, mime_type};
     * location {latitude, longitude, name}; contact {name, phones}; poll {question, options}; reaction {message_id,
     * emoji}. A string is short for the body of a text, the url of a file, or latitude,longitude of a location; for
     * other types it is the object as JSON. A contact may have phone instead of phones.
     */
    readonly content: string | { readonly [name: string]: unknown }
    /** A phone number, or the id of a group, which ends in @g.us */
    readonly to?: string | undefined
  } | {
    readonly channel: "sms"
    readonly until?: "sent" | "delivered" | undefined
    /**
     * Seconds for that, from the moment the channel hands the message over; defaults to 300. A message that still
     * waits by then, from the step's beginning, is withdrawn
     */
    readonly within_seconds?: number | undefined
    readonly content: string
    /** A name of 3 to 11 characters, a number in E.164, or a short code */
    readonly sender_id?: string | undefined
    /** A phone number with its country code; the + may be left out */
    readonly to?: string | undefined
  } | {
    readonly channel: "email"
    /** What the step has to reach; defaults to delivered. SMS carriers never say read */
    readonly until?: "sent" | "delivered" | "read" | undefined
    /**
     * Seconds for that, from the moment the channel hands the message over; defaults to 300. A message that still
     * waits by then, from the step's beginning, is withdrawn
     */
    readonly within_seconds?: number | undefined
    /** The address, or Name <address>, that replies go to. Its domain needs no verification */
    readonly reply_to?: string | undefined
    /** Required without text and template_id. {{variables}} are filled in and escaped */
    readonly html?: string | undefined
    /**
     * Further header fields: In-Reply-To, References, Auto-Submitted, Precedence, List-* except List-Unsubscribe and
     * List-Unsubscribe-Post, and X-*. The DKIM signature covers them
     */
    readonly headers?: { readonly [name: string]: string } | undefined
    /** An address, or Name <address>, of a verified domain. Default: the service's default sender */
    readonly from?: string | undefined
    /** The sender's name; replaces the name in from. The default sender adds its own: Shop via Example */
    readonly from_name?: string | undefined
    /** A stored template instead of html and text. Its number also works, but is deprecated */
    readonly template_id?: string | number | undefined
    /** Required without template_id; otherwise it replaces the template's subject. {{variables}} are filled in */
    readonly subject?: string | undefined
    /** For readers without HTML. Default: made from html */
    readonly text?: string | undefined
    /** Whether to record opens; overrides the domain's setting */
    readonly track_opens?: boolean | undefined
    /** Whether to record clicks; overrides the domain's setting */
    readonly track_clicks?: boolean | undefined
    /** Values for {{name}} and, one level down, {{user.name}}. Escaped in HTML. Lists and deeper values are ignored */
    readonly variables?: { readonly [name: string]: unknown } | undefined
    /** An email address */
    readonly to?: string | undefined
  }>
  readonly send_at?: string | null | undefined
  /** Up to 10 words by which lists and usage are filtered */
  readonly tags?: ReadonlyArray<string> | undefined
  /** Up to 20 texts by name, which the record and the events of the message repeat. Logs never have them */
  readonly metadata?: { readonly [name: string]: string } | undefined
}

export interface NewLogin {
  readonly email: string
  readonly password: string
  /** A code of the authenticator app, or a recovery code, where the owner has one */
  readonly code?: string | undefined
}

export interface NewSandboxFault {
  /**
   * What happens to the next message: email_bounce: the recipient's server refuses the mail for good. email_defer:
   * it refuses one attempt, and the retry arrives. email_hang_up: the relay closes the connection before it
   * confirms the mail, and the retry arrives. sms_lost: the provider accepts the text, which never arrives.
   * whatsapp_offline: WhatsApp accepts the message, and its phone is offline
   */
  readonly fault: "email_bounce" | "email_defer" | "email_hang_up" | "sms_lost" | "whatsapp_offline"
}

export interface NewSms {
  /** A phone number with its country code; the + may be left out */
  readonly to: string
  readonly content: string
  /** A name of 3 to 11 characters, a number in E.164, or a short code */
  readonly sender_id?: string | undefined
  readonly send_at?: string | null | undefined
  /** Up to 10 words by which lists and usage are filtered */
  readonly tags?: ReadonlyArray<string> | undefined
  /** Up to 20 texts by name, which the record and the events of the message repeat. Logs never have them */
  readonly metadata?: { readonly [name: string]: string } | undefined
}

export interface NewSmsBatch {
  /** Each recipient has a number and values. A plain string is a number without values */
  readonly recipients: ReadonlyArray<string | {
    /** A phone number with its country code; the + may be left out */
    readonly to: string
    /** Values for {{name}} and, one level down, {{user.name}}. Escaped in HTML. Lists and deeper values are ignored */
    readonly variables?: { readonly [name: string]: unknown } | undefined
  }>
  /** Values for all recipients. A recipient's own values take precedence */
  readonly variables?: { readonly [name: string]: unknown } | undefined
  readonly content: string
  /** A name of 3 to 11 characters, a number in E.164, or a short code */
  readonly sender_id?: string | undefined
  readonly send_at?: string | null | undefined
  /** Up to 10 words by which lists and usage are filtered */
  readonly tags?: ReadonlyArray<string> | undefined
  /** Up to 20 texts by name, which the record and the events of the message repeat. Logs never have them */
  readonly metadata?: { readonly [name: string]: string } | undefined
}

export interface NewSuppression {
  /** An email address */
  readonly email: string
  readonly reason?: "manual" | undefined
}

export interface NewSuppressions {
  readonly emails: ReadonlyArray<string>
}

export interface NewVerification {
  /** A phone number with its country code, or an email address */
  readonly to: string
  /**
   * Defaults to sms. auto: email for an address; for a number WhatsApp, then SMS if WhatsApp refuses, fails or is
   * late
   */
  readonly channel?: "sms" | "whatsapp" | "email" | "auto" | undefined
  /** Digits of the code; defaults to 6 */
  readonly length?: number | undefined
  /** Seconds until it expires; defaults to 300 */
  readonly ttl?: number | undefined
  readonly brand_name?: string | undefined
  /** Language of the text; defaults to the account's */
  readonly locale?: "en" | "fr" | "es" | "pt" | "de" | "ar" | "sw" | "rw" | undefined
  /** A domain name */
  readonly domain?: string | undefined
  /** An IPv4 or IPv6 address */
  readonly client_ip?: string | undefined
  /** The WhatsApp session that sends it; defaults to the first connected one */
  readonly session_id?: number | undefined
}

export interface NewWebhook {
  /**
   * HTTPS endpoint that receives the POSTs. Stored in its normal form: the host in lower case, a path of at least
   * /.
   */
  readonly url: string
  readonly events: ReadonlyArray<string>
  /** false: it gets no events until it is activated */
  readonly is_active?: boolean | undefined
  /** standard (the default): 4 attempts within three minutes. extended: 9 attempts within about 28 hours */
  readonly retry_policy?: "standard" | "extended" | undefined
  /** Only events of these channels. Empty: events of all channels, and those without one */
  readonly channels?: ReadonlyArray<"email" | "sms" | "whatsapp"> | undefined
  /** Only events of messages with at least one of these tags. Empty: all events */
  readonly tags?: ReadonlyArray<string> | undefined
  /**
   * Headers that every delivery carries, for example a token of your gateway. At most 10. Names of HTTP, of the
   * connection and those that begin with Content-, X-Service- or webhook- are reserved.
   */
  readonly headers?: { readonly [name: string]: string } | undefined
}

export interface NewWebhookRecovery {
  readonly since: string
  readonly until?: string | undefined
  /** Only deliveries of this event; a name with a channel, for example sms.delivered, matches all channels */
  readonly event?: string | undefined
  /** Only deliveries with this answer to the last attempt: a status such as 503, or a class such as 5xx */
  readonly response_code?: string | undefined
  /** How the deliveries to repeat have ended; both by default */
  readonly status?: ReadonlyArray<"failed" | "skipped"> | undefined
}

export type NewWhatsAppBatch = {
  readonly session_id: number
  readonly send_at?: string | null | undefined
  /** Up to 10 words by which lists and usage are filtered */
  readonly tags?: ReadonlyArray<string> | undefined
  /** Up to 20 texts by name, which the record and the events of the message repeat. Logs never have them */
  readonly metadata?: { readonly [name: string]: string } | undefined
  /**
   * Each recipient has a number or the id of a group and values. A plain string is a number or the id of a group
   * without values
   */
  readonly recipients: ReadonlyArray<string | {
    /** A phone number, or the id of a group, which ends in @g.us */
    readonly to: string
    /** Values for {{name}} and, one level down, {{user.name}}. Escaped in HTML. Lists and deeper values are ignored */
    readonly variables?: { readonly [name: string]: unknown } | undefined
  }>
  /** Values for all recipients. A recipient's own values take precedence */
  readonly variables?: { readonly [name: string]: unknown } | undefined
  /** The shortest pause before each message. The session's rate limits apply as well. */
  readonly delay_ms?: number | undefined
} & ({
  readonly type?: "text" | undefined
  /** A string is the body */
  readonly content: string | WhatsAppTextContent
} | {
  readonly type: "image"
  /** A string is the url */
  readonly content: string | WhatsAppImageContent
} | {
  readonly type: "video"
  /** A string is the url */
  readonly content: string | WhatsAppVideoContent
} | {
  readonly type: "audio"
  /** A string is the url */
  readonly content: string | WhatsAppAudioContent
} | {
  readonly type: "document"
  /** A string is the url */
  readonly content: string | WhatsAppDocumentContent
} | {
  readonly type: "location"
  /** A string is latitude,longitude */
  readonly content: string | WhatsAppLocationContent
} | {
  readonly type: "contact"
  /** A string is the object as JSON */
  readonly content: string | WhatsAppContactContent | {
    readonly name: string
    readonly phone: string
  }
} | {
  readonly type: "poll"
  /** A string is the object as JSON */
  readonly content: string | WhatsAppPollContent
} | {
  readonly type: "reaction"
  /** A string is the object as JSON */
  readonly content: string | WhatsAppReactionContent
})

export interface NewWhatsAppGroup {
  readonly session_id: number
  readonly name: string
  readonly description?: string | null | undefined
  readonly participants: ReadonlyArray<string>
}

export type NewWhatsAppMessage = {
  readonly session_id: number
  readonly send_at?: string | null | undefined
  /** Up to 10 words by which lists and usage are filtered */
  readonly tags?: ReadonlyArray<string> | undefined
  /** Up to 20 texts by name, which the record and the events of the message repeat. Logs never have them */
  readonly metadata?: { readonly [name: string]: string } | undefined
  /** A phone number, or the id of a group, which ends in @g.us */
  readonly to?: string | undefined
  /** A group by its id in the API, instead of to */
  readonly group_id?: number | undefined
} & ({
  readonly type?: "text" | undefined
  /** A string is the body */
  readonly content: string | WhatsAppTextContent
} | {
  readonly type: "image"
  /** A string is the url */
  readonly content: string | WhatsAppImageContent
} | {
  readonly type: "video"
  /** A string is the url */
  readonly content: string | WhatsAppVideoContent
} | {
  readonly type: "audio"
  /** A string is the url */
  readonly content: string | WhatsAppAudioContent
} | {
  readonly type: "document"
  /** A string is the url */
  readonly content: string | WhatsAppDocumentContent
} | {
  readonly type: "location"
  /** A string is latitude,longitude */
  readonly content: string | WhatsAppLocationContent
} | {
  readonly type: "contact"
  /** A string is the object as JSON */
  readonly content: string | WhatsAppContactContent | {
    readonly name: string
    readonly phone: string
  }
} | {
  readonly type: "poll"
  /** A string is the object as JSON */
  readonly content: string | WhatsAppPollContent
} | {
  readonly type: "reaction"
  /** A string is the object as JSON */
  readonly content: string | WhatsAppReactionContent
})

export interface NewWhatsAppSession {
  /** generated if left out */
  readonly name?: string | null | undefined
}

export interface NotificationSettings {
  /** A quota is used up, or a key was revoked */
  readonly email_alerts: boolean
  /** 80 percent of a quota are used */
  readonly usage_warnings: boolean
  /** Usage of the last week, on Mondays */
  readonly weekly_digest: boolean
  /** A key was created, or a webhook's secret was rotated */
  readonly security_alerts: boolean
  /** Not used yet */
  readonly marketing_emails: boolean
}

export interface NotificationSettingsChange {
  /** A quota is used up, or a key was revoked */
  readonly email_alerts?: boolean | undefined
  /** 80 percent of a quota are used */
  readonly usage_warnings?: boolean | undefined
  /** Usage of the last week, on Mondays */
  readonly weekly_digest?: boolean | undefined
  /** A key was created, or a webhook's secret was rotated */
  readonly security_alerts?: boolean | undefined
  /** Not used yet */
  readonly marketing_emails?: boolean | undefined
}

export interface PairingCode {
  readonly code: string
  readonly expires_at: string
}

export interface PairingRequest {
  /** number of the phone to pair, with its country code */
  readonly phone_number: string
}

export interface PasswordChange {
  /** An account without a password gets its first one with POST /v1/auth/password/forgot */
  readonly current_password: string
  readonly password: string
  readonly password_confirmation: string
}

export interface PasswordReset {
  readonly token: string
  readonly password: string
  readonly password_confirmation: string
}

export interface PasswordResetRequest {
  /** An email address */
  readonly email: string
}

export interface PhoneValidation {
  readonly input: string
  /**
   * Whether the number is in a range that its country has assigned. Messages are also accepted for other numbers
   * that have an e164
   */
  readonly valid: boolean
  /** The form that messages use; also set for a possible number that is not assigned */
  readonly e164: string | null
  readonly national_format: string | null
  readonly country: string | null
  readonly country_code: string | null
  readonly dial_prefix: string | null
  readonly line_type: "mobile" | "fixed_line" | "fixed_line_or_mobile" | "premium_rate" | "toll_free" | "shared_cost" | "voip" | "personal_number" | "pager" | "company_number" | "voicemail" | null
}

export interface PreviewedSms {
  /** A phone number with its country code; the + may be left out */
  readonly to: string
  readonly content: string
  /** A name of 3 to 11 characters, a number in E.164, or a short code */
  readonly sender_id?: string | undefined
}

export interface Profile {
  readonly name: string
  readonly email: string
  /** The requested new address, until it is confirmed from there, within 24 hours */
  readonly pending_email: string | null
  readonly timezone: "UTC" | "America/New_York" | "America/Los_Angeles" | "America/Chicago" | "Europe/London" | "Europe/Berlin" | "Europe/Paris" | "Asia/Tokyo" | "Asia/Shanghai" | "Asia/Dubai" | "Africa/Nairobi" | "Africa/Kigali" | "Africa/Lagos" | "Australia/Sydney" | "Pacific/Auckland"
  readonly locale: "en" | "fr" | "es" | "pt" | "de" | "ar" | "sw" | "rw"
}

export interface ProfileChange {
  readonly name?: string | undefined
  /** An email address */
  readonly email?: string | undefined
  readonly timezone?: "UTC" | "America/New_York" | "America/Los_Angeles" | "America/Chicago" | "Europe/London" | "Europe/Berlin" | "Europe/Paris" | "Asia/Tokyo" | "Asia/Shanghai" | "Asia/Dubai" | "Africa/Nairobi" | "Africa/Kigali" | "Africa/Lagos" | "Australia/Sydney" | "Pacific/Auckland" | undefined
  readonly locale?: "en" | "fr" | "es" | "pt" | "de" | "ar" | "sw" | "rw" | undefined
}

export interface RequestRecord {
  readonly id: string
  readonly method: string
  /** Without its query */
  readonly path: string
  /** The path of the endpoint, such as `/v1/email/messages/:id` */
  readonly route: string
  readonly status: number
  /** The error of the answer; null for 2xx */
  readonly error: {
    readonly type: string
    readonly code: number
    readonly message: string
    readonly param?: string
    /** The first 20 of the answer */
    readonly errors?: ReadonlyArray<{
      readonly param: string
      readonly type: string
      readonly message: string
    }>
  } | null
  /** The path of what the request has made */
  readonly made: string | null
  readonly duration_ms: number
  readonly key_id: number | null
  readonly key_prefix: string | null
  /** The person who made it in the console */
  readonly person_id: number | null
  readonly ip: string
  readonly created_at: string
}

export interface Reschedule {
  readonly send_at: string
}

export interface RotatedApiKey {
  readonly id: number
  readonly name: string
  readonly key_prefix: string
  /** test: of a test key, whose messages go to the sandbox */
  readonly mode: "live" | "test"
  readonly scopes: ReadonlyArray<"whatsapp:read" | "whatsapp:write" | "sms:write" | "email:write" | "verify:write" | "account:read">
  readonly permissions: ReadonlyArray<"sessions:read" | "sessions:write" | "messages:read" | "messages:write" | "contacts:read" | "contacts:write" | "groups:read" | "groups:write" | "emails:read" | "emails:write" | "domains:read" | "domains:write" | "templates:read" | "templates:write" | "sms:read" | "sms:write" | "verify:read" | "verify:write" | "webhooks:read" | "webhooks:write" | "keys:read" | "keys:write" | "account:read" | "account:write" | "members:read" | "members:write" | "requests:read" | "requests:write">
  readonly expires_at: string | null
  readonly created_at: string
  readonly key: string
  /** The key that this one replaces, and when it ends */
  readonly previous: {
    readonly id: number
    readonly expires_at: string
  }
}

export interface SandboxFault {
  readonly id: number
  /**
   * What happens to the next message: email_bounce: the recipient's server refuses the mail for good. email_defer:
   * it refuses one attempt, and the retry arrives. email_hang_up: the relay closes the connection before it
   * confirms the mail, and the retry arrives. sms_lost: the provider accepts the text, which never arrives.
   * whatsapp_offline: WhatsApp accepts the message, and its phone is offline
   */
  readonly fault: "email_bounce" | "email_defer" | "email_hang_up" | "sms_lost" | "whatsapp_offline"
  readonly created_at: string
  /** No message uses it from then on */
  readonly expires_at: string
}

export interface SandboxMessage {
  /** names the message in the sandbox; it is not the id of its record */
  readonly id: string
  readonly mode: "test"
  readonly channel: "email" | "sms" | "whatsapp"
  readonly from: string | null
  readonly to: string
  /** email, sms, or the type of a WhatsApp message */
  readonly type: string
  readonly subject: string | null
  readonly text: string | null
  readonly html: string | null
  readonly headers: ReadonlyArray<{
    readonly name: string
    readonly value: string
  }>
  readonly links: ReadonlyArray<string>
  readonly attachments: ReadonlyArray<{
    readonly name: string
    readonly type: string
    /** bytes; 0 without content */
    readonly size: number
    /**
     * base64; null for WhatsApp, and for the later mails of a page whose mails exceed 8 MiB. The first mail is always
     * whole
     */
    readonly content: string | null
  }>
  readonly received_at: string
}

export interface SandboxReceiver {
  /** The URL for a webhook. Its last part is a secret of the account */
  readonly url: string
  /** It answers 500 until this time; null while it answers 204 */
  readonly failing_until: string | null
}

export interface SandboxReceiverChange {
  /** true: it answers 500 for five minutes. false: 204 again */
  readonly failing: boolean
}

export interface SecretRotation {
  /** How many seconds the previous secret signs as well; default 86400 (one day) */
  readonly overlap_seconds?: number | undefined
}

export interface SenderId {
  readonly sender_id: string
  readonly type: "alphanumeric" | "number" | "short_code"
  readonly is_default: boolean
}

export interface SentVerification {
  readonly id: string
  readonly to: string
  /** The channel; for an automatic verification, the one that accepted the code */
  readonly channel: "sms" | "whatsapp" | "email"
  readonly status: "pending" | "approved" | "expired" | "max_attempts"
  readonly expires_at: string
  readonly created_at: string
}

export interface SignIn {
  readonly id: number
  readonly created_at: string
  readonly last_used_at: string | null
  readonly expires_at: string
  /** The address that signed in */
  readonly client_address: string | null
  /** The browser that signed in, as it called itself */
  readonly user_agent: string | null
  /** What proved the person's identity */
  readonly methods: ReadonlyArray<"password" | "passkey" | "authenticator" | "recovery_code" | "setup_link">
}

export interface SmsLink {
  /** smpp: a carrier over SMPP; http: a provider that gets requests; sandbox: no text reaches a phone */
  readonly provider: "smpp" | "http" | "sandbox"
  /** null if the provider is not smpp, and while the node that keeps the link does not answer */
  readonly link: SmsLinkState | null
}

export interface SmsLinkState {
  /** unbound while the service tries to connect; paused while the operator has paused the service */
  readonly status: "bound" | "unbound" | "paused"
  /** when the link got its status */
  readonly since: string
  /** the most submits without an answer */
  readonly window: number
  /** submits per second at present; lower than max_rate after the carrier throttles */
  readonly rate: number
  /** the most submits per second */
  readonly max_rate: number
}

export interface SmsOfCountry {
  /** Two letters, such as RW. Null for numbers that belong to no country */
  readonly country: string | null
  readonly delivered: number
  readonly failed: number
  /** Queued or sent, and their delivery is not known yet */
  readonly pending: number
  /** delivered as a share of delivered and failed; null while neither is known of any text */
  readonly delivery_rate: number | null
}

export interface SmsPreview {
  readonly to: string
  /** The sender that it would show; null: the carrier's */
  readonly sender_id: string | null
  /** ucs2 for a text with a character outside the GSM alphabet */
  readonly encoding: "gsm7" | "ucs2"
  readonly segments: number
  readonly cost_usd: number
}

export interface SmsStatistics {
  /** How many texts are counted: the newest 1000 at most */
  readonly messages: number
  /** When the oldest of them was accepted */
  readonly since: string | null
  /** Those with the most texts first */
  readonly by_country: ReadonlyArray<SmsOfCountry>
}

export interface Suppression {
  /** In lower case, its domain in A-labels */
  readonly email: string
  readonly reason: "unsubscribe" | "bounce" | "complaint" | "manual"
  /** The message that caused the suppression; null for a manual one */
  readonly source_message_id: number | null
  readonly created_at: string
}

export interface SuppressionsAdded {
  /** Addresses that were not suppressed before */
  readonly added: number
  /** Addresses that were, and keep their reason */
  readonly existing: number
}

/** The service has stored the message. */
export interface TimelineAccepted {
  readonly at: string
  readonly kind: "accepted"
  readonly detail: {
    readonly batch_id: string | null
    /** the request that sent it; null for what the service itself sends */
    readonly request_id: string | null
    /** the visible part of its API key; null for a login */
    readonly key_prefix: string | null
    /** the client's address */
    readonly ip: string | null
  }
  /** the path of the message, in a timeline of several messages */
  readonly message?: string
}

/** An attempt ended with this answer. */
export interface TimelineAttempt {
  readonly at: string
  readonly kind: "attempt"
  readonly detail: {
    readonly attempt: number
    readonly outcome: "accepted" | "refused" | "deferred" | "unconfirmed" | "failed"
    /** the address of an email's copy */
    readonly to: string | null
    /** the part of an SMS */
    readonly part: number | null
    /** the relay's address, the provider, or `whatsapp` */
    readonly peer: string | null
    /** the last answer: an SMTP reply with its enhanced code, or a status */
    readonly reply: string | null
    readonly duration_ms: number | null
    /** Commands (`C:`) and replies (`S:`) of the mail transaction, as SMTP_DIALOGUE has it stored */
    readonly dialogue: string | null
  }
  /** the path of the message, in a timeline of several messages */
  readonly message?: string
}

/** The message was withdrawn before it was sent. */
export interface TimelineCanceled {
  readonly at: string
  readonly kind: "canceled"
  readonly detail: {
    readonly to: string | null
  }
  /** the path of the message, in a timeline of several messages */
  readonly message?: string
}

/** A node began an attempt. */
export interface TimelineClaimed {
  readonly at: string
  readonly kind: "claimed"
  readonly detail: {
    readonly attempt: number
    readonly part: number | null
    readonly to: string | null
  }
  /** the path of the message, in a timeline of several messages */
  readonly message?: string
}

/** The next attempt is due at this time. */
export interface TimelineDeferred {
  readonly at: string
  readonly kind: "deferred"
  readonly detail: {
    readonly attempt: number
    readonly next_at: string
    readonly to: string | null
  }
  /** the path of the message, in a timeline of several messages */
  readonly message?: string
}

/** A webhook got the event, or did not. */
export interface TimelineDelivery {
  readonly at: string
  readonly kind: "delivery"
  readonly detail: {
    readonly id: number
    readonly webhook_id: number
    readonly event_id: string
    readonly event: string
    readonly status: "pending" | "retrying" | "delivered" | "failed" | "skipped"
    readonly attempts: number
    readonly response_code: number | null
    readonly error: string | null
  }
  /** the path of the message, in a timeline of several messages */
  readonly message?: string
}

/** An event was published. */
export interface TimelineEvent {
  readonly at: string
  readonly kind: "event"
  readonly detail: {
    readonly id: string
    readonly event: string
  }
  /** the path of the message, in a timeline of several messages */
  readonly message?: string
}

/** The message is due. */
export interface TimelineQueued {
  readonly at: string
  readonly kind: "queued"
  readonly detail: unknown
  /** the path of the message, in a timeline of several messages */
  readonly message?: string
}

/** The message waits for another time. */
export interface TimelineRescheduled {
  readonly at: string
  readonly kind: "rescheduled"
  readonly detail: {
    readonly send_at: string
  }
  /** the path of the message, in a timeline of several messages */
  readonly message?: string
}

/** The message waits for its time. */
export interface TimelineScheduled {
  readonly at: string
  readonly kind: "scheduled"
  readonly detail: {
    readonly send_at: string
  }
  /** the path of the message, in a timeline of several messages */
  readonly message?: string
}

/** The message has reached this status. */
export interface TimelineStatus {
  readonly at: string
  readonly kind: "status"
  readonly detail: {
    readonly status: "scheduled" | "queued" | "sent" | "delivered" | "opened" | "clicked" | "read" | "received" | "bounced" | "complained" | "failed" | "suppressed" | "canceled"
    readonly source: "relay" | "report" | "pixel" | "link" | "provider" | "receipt" | "whatsapp" | "service"
    readonly to: string | null
    readonly error: string | null
  }
  /** the path of the message, in a timeline of several messages */
  readonly message?: string
}

/** An address of the message gets no mail of this account. */
export interface TimelineSuppressed {
  readonly at: string
  readonly kind: "suppressed"
  readonly detail: {
    readonly to: string
  }
  /** the path of the message, in a timeline of several messages */
  readonly message?: string
}

/** The verification has ended. */
export interface TimelineVerification {
  readonly at: string
  readonly kind: "verification"
  readonly detail: {
    readonly status: "pending" | "approved" | "expired" | "max_attempts"
  }
  /** the path of the message, in a timeline of several messages */
  readonly message?: string
}

export interface UsageReport {
  readonly period: {
    readonly from: string
    readonly to: string
  }
  readonly plan: "starter" | "growth" | "business" | "enterprise"
  readonly metrics: ReadonlyArray<{
    readonly metric: "email" | "sms" | "otp" | "email_sent" | "sms_segments" | "whatsapp"
    readonly count: number
    /** US dollars */
    readonly cost_usd: number
  }>
  readonly quotas: ReadonlyArray<{
    readonly resource: "email" | "sms" | "otp"
    readonly limit: number | null
    readonly used: number
    readonly remaining: number | null
    readonly resets_at: string
  }>
  /** More SMS in the current month than the plans cover. Ask for volume pricing */
  readonly high_volume: boolean
}

export interface Verification {
  readonly id: string
  readonly to: string
  /** The channel; for an automatic verification, the one that accepted the code */
  readonly channel: "sms" | "whatsapp" | "email"
  readonly status: "pending" | "approved" | "expired" | "max_attempts"
  readonly expires_at: string
  readonly created_at: string
  readonly attempts_remaining: number
}

export interface VerificationStatistics {
  readonly total: {
    readonly verifications: number
    /** More than the verifications where codes were sent again */
    readonly codes_sent: number
    readonly pending: number
    readonly confirmed: number
    readonly expired: number
    /** Ended by too many wrong codes */
    readonly max_attempts: number
    readonly wrong_codes: number
    /** The share of the confirmed ones, from 0 to 1, without those that are pending. Null without any */
    readonly conversion: number | null
    /** The price of the SMS */
    readonly cost_usd: number
    readonly cost_per_confirmed_usd: number | null
    /** Half of the confirmed ones took no longer than this, from the first code on */
    readonly median_seconds: number | null
  }
  /** The same by channel and country, those with the most verifications first */
  readonly by_country: ReadonlyArray<{
    readonly channel: "sms" | "whatsapp" | "email"
    /** Two letters, such as RW. Null for email */
    readonly country: string | null
    readonly verifications: number
    /** More than the verifications where codes were sent again */
    readonly codes_sent: number
    readonly pending: number
    readonly confirmed: number
    readonly expired: number
    /** Ended by too many wrong codes */
    readonly max_attempts: number
    readonly wrong_codes: number
    /** The share of the confirmed ones, from 0 to 1, without those that are pending. Null without any */
    readonly conversion: number | null
    /** The price of the SMS */
    readonly cost_usd: number
    readonly cost_per_confirmed_usd: number | null
    /** Half of the confirmed ones took no longer than this, from the first code on */
    readonly median_seconds: number | null
  }>
}

export interface Webhook {
  readonly id: number
  readonly url: string
  readonly events: ReadonlyArray<string>
  readonly secret: string
  readonly is_active: boolean
  readonly status: "active" | "unhealthy" | "disabled"
  readonly unhealthy_reason: "failing" | "gone" | "backlog_full" | null
  readonly failure_count: number
  readonly retry_policy: "standard" | "extended"
  /** Only events of these channels; empty: of all */
  readonly channels: ReadonlyArray<"email" | "sms" | "whatsapp">
  /** Only events with one of these tags; empty: all events */
  readonly tags: ReadonlyArray<string>
  /** The names of its headers; no response shows their values */
  readonly headers: { readonly [name: string]: string }
  readonly created_at: string
}

export interface WebhookChange {
  /**
   * HTTPS endpoint that receives the POSTs. Stored in its normal form: the host in lower case, a path of at least
   * /.
   */
  readonly url?: string | undefined
  readonly events?: ReadonlyArray<string> | undefined
  readonly is_active?: boolean | undefined
  /** standard (the default): 4 attempts within three minutes. extended: 9 attempts within about 28 hours */
  readonly retry_policy?: "standard" | "extended" | undefined
  /** Only events of these channels. Empty: events of all channels, and those without one */
  readonly channels?: ReadonlyArray<"email" | "sms" | "whatsapp"> | undefined
  /** Only events of messages with at least one of these tags. Empty: all events */
  readonly tags?: ReadonlyArray<string> | undefined
  /**
   * Headers that every delivery carries, for example a token of your gateway. At most 10. Names of HTTP, of the
   * connection and those that begin with Content-, X-Service- or webhook- are reserved.
   */
  readonly headers?: { readonly [name: string]: string } | undefined
}

export interface WebhookDelivery {
  readonly id: number
  readonly webhook_id: number
  readonly event: string
  readonly event_id: string
  readonly status: "pending" | "retrying" | "delivered" | "failed" | "skipped"
  readonly attempt_count: number
  readonly next_attempt_at: string | null
  readonly response_code: number | null
  readonly error: "timeout" | "connection_refused" | "connection_reset" | "dns_error" | "tls_error" | "blocked_address" | "body_read" | "redirect" | "http_status" | "webhook_unhealthy" | "backlog_full" | "restored" | null
  readonly duration_ms: number | null
  readonly is_test: boolean
  readonly created_at: string
  readonly completed_at: string | null
}

export interface WebhookDeliveryDetail {
  readonly id: number
  readonly webhook_id: number
  readonly event: string
  readonly event_id: string
  readonly status: "pending" | "retrying" | "delivered" | "failed" | "skipped"
  readonly attempt_count: number
  readonly next_attempt_at: string | null
  readonly response_code: number | null
  readonly error: "timeout" | "connection_refused" | "connection_reset" | "dns_error" | "tls_error" | "blocked_address" | "body_read" | "redirect" | "http_status" | "webhook_unhealthy" | "backlog_full" | "restored" | null
  readonly duration_ms: number | null
  readonly is_test: boolean
  readonly created_at: string
  readonly completed_at: string | null
  readonly payload: unknown
  readonly attempts: ReadonlyArray<{
    readonly attempt: number
    readonly started_at: string
    readonly duration_ms: number
    readonly response_code: number | null
    readonly error: "timeout" | "connection_refused" | "connection_reset" | "dns_error" | "tls_error" | "blocked_address" | "body_read" | "redirect" | "http_status" | "webhook_unhealthy" | "backlog_full" | "restored" | null
    readonly response_body: string | null
    readonly retry_after: string | null
  }>
}

export interface WebhookRecovery {
  readonly id: number
  readonly webhook_id: number
  readonly status: "running" | "completed" | "canceled"
  readonly since: string
  readonly until: string
  readonly statuses: ReadonlyArray<"failed" | "skipped">
  /** Only deliveries of this event; null: of all events */
  readonly event: string | null
  /** Only deliveries with this answer to the last attempt, such as 503 or 5xx; null: with any, or none */
  readonly response_code: string | null
  /** Events to recover; at least, while is_total_exact is false */
  readonly total: number
  /** false while the service still counts */
  readonly is_total_exact: boolean
  /** Events queued so far, delivered and failed ones included */
  readonly queued: number
  readonly delivered: number
  /** Events whose new delivery failed, or was skipped */
  readonly failed: number
  readonly created_at: string
  readonly completed_at: string | null
}

export interface WebhookRecoveryPreview {
  /** Events to recover; at least, while is_total_exact is false */
  readonly total: number
  /** false: more than were counted */
  readonly is_total_exact: boolean
  /** Oldest event first */
  readonly order: "event"
  /** Estimated pace, from the durations of recent deliveries; null if none is known */
  readonly per_second: number | null
  /** When it would end at that pace, at the earliest */
  readonly estimated_end_at: string | null
}

export interface WebhookStatistics {
  readonly succeeded: number
  readonly failed: number
  /** 95 of 100 attempts took at most as many milliseconds, rounded up by less than a fifth; null without attempts */
  readonly p95_ms: number | null
  /** Deliveries that wait for their first or next attempt, counted up to 10,000 */
  readonly waiting: number
  readonly oldest_waiting_at: string | null
  /** 24 hours, the oldest first; the last one is not over */
  readonly hours: ReadonlyArray<{
    /** When the hour began */
    readonly at: string
    readonly succeeded: number
    readonly failed: number
  }>
}

export interface WebhookTest {
  /** Name of the event to simulate, as it is sent or with its channel, for example sms.delivered */
  readonly event: string
}

export interface WhatsAppAudioContent {
  readonly url?: string | undefined
  readonly base64?: string | undefined
  /** May have parameters: audio/ogg; codecs=opus */
  readonly mime_type?: string | undefined
}

export interface WhatsAppContact {
  readonly id: number
  readonly session_id: number
  /** null if WhatsApp hides the number */
  readonly phone: string | null
  /** From the address book, or else the contact's own name */
  readonly name: string | null
  readonly is_whatsapp_user: boolean
  readonly created_at: string
  readonly updated_at: string
}

export interface WhatsAppContactContent {
  readonly name: string
  readonly phones: ReadonlyArray<string>
}

export interface WhatsAppDocumentContent {
  readonly url?: string | undefined
  readonly base64?: string | undefined
  /** May have parameters: audio/ogg; codecs=opus */
  readonly mime_type?: string | undefined
  readonly caption?: string | undefined
  readonly filename?: string | undefined
}

export interface WhatsAppGroup {
  readonly id: number
  readonly session_id: number
  readonly name: string
  readonly description: string | null
  readonly participants: ReadonlyArray<{
    /** null if WhatsApp hides the number */
    readonly phone: string | null
    readonly role: "member" | "admin" | "superadmin"
  }>
  readonly participant_count: number
  /** null unless WhatsApp shows it to the session */
  readonly invite_link: string | null
  readonly created_at: string
}

export interface WhatsAppGroupChange {
  readonly name?: string | undefined
  readonly description?: string | null | undefined
  readonly add_participants?: ReadonlyArray<string> | undefined
  readonly remove_participants?: ReadonlyArray<string> | undefined
}

export interface WhatsAppImageContent {
  readonly url?: string | undefined
  readonly base64?: string | undefined
  /** May have parameters: audio/ogg; codecs=opus */
  readonly mime_type?: string | undefined
  readonly caption?: string | undefined
}

export interface WhatsAppLocationContent {
  readonly latitude: number
  readonly longitude: number
  readonly name?: string | undefined
}

export interface WhatsAppNumberCheck {
  readonly phone: string
  /** null: WhatsApp did not answer; try again later */
  readonly is_whatsapp_user: boolean | null
  readonly whatsapp_id: string | null
}

export interface WhatsAppPairingLink {
  /** page that pairs this session without a sign-in */
  readonly url: string
  readonly expires_at: string
}

export interface WhatsAppPollContent {
  readonly question: string
  readonly options: ReadonlyArray<string>
}

export interface WhatsAppQrCode {
  /** data URL of a PNG, to scan with the phone */
  readonly qr_code: string
  /** when the next code replaces it */
  readonly expires_at: string
}

export interface WhatsAppReactionContent {
  readonly message_id: number
  /** One emoji. Empty removes the reaction. */
  readonly emoji: string
}

export interface WhatsAppSession {
  readonly id: number
  /** internal identifier; callers normally do not need it */
  readonly session_key: string
  readonly name: string
  readonly status: "pending" | "connected" | "disconnected" | "failed"
  /** digits; null until a phone is paired */
  readonly phone_number: string | null
  readonly created_at: string
  /** messages that were sent through the session */
  readonly messages_count: number
}

export interface WhatsAppSessionChange {
  readonly name: string
}

export interface WhatsAppSessionDetail {
  readonly id: number
  /** internal identifier; callers normally do not need it */
  readonly session_key: string
  readonly name: string
  readonly status: "pending" | "connected" | "disconnected" | "failed"
  /** digits; null until a phone is paired */
  readonly phone_number: string | null
  readonly created_at: string
  /** messages that were sent through the session */
  readonly messages_count: number
  /** why it is disconnected or failed, else null */
  readonly reason: "connection_lost" | "logged_out" | "replaced" | "retries_exhausted" | "qr_expired" | null
  readonly connected_at: string | null
}

export interface WhatsAppSessionFigures {
  /** when the session got its status */
  readonly status_since: string
  /** why it is disconnected or failed, else null */
  readonly reason: "connection_lost" | "logged_out" | "replaced" | "retries_exhausted" | "qr_expired" | null
  /** messages that were written to WhatsApp in the last minute */
  readonly last_minute: number
  /** messages that were written to WhatsApp in the last 24 hours */
  readonly last_day: number
  /** messages that wait for their turn */
  readonly queued: number
  /** the most messages in a minute; null means no limit */
  readonly limit_per_minute: number | null
  /** the most messages in 24 hours; null means no limit */
  readonly limit_per_day: number | null
  /** each count ends here: such a count means this many or more */
  readonly counted_up_to: number
}

export interface WhatsAppSessionState {
  /** when the session got this status or reason */
  readonly since: string
  readonly status: "pending" | "connected" | "disconnected" | "failed"
  /** why it was disconnected or failed, else null */
  readonly reason: "connection_lost" | "logged_out" | "replaced" | "retries_exhausted" | "qr_expired" | null
}

export interface WhatsAppTextContent {
  readonly body: string
}

export interface WhatsAppVideoContent {
  readonly url?: string | undefined
  readonly base64?: string | undefined
  /** May have parameters: audio/ogg; codecs=opus */
  readonly mime_type?: string | undefined
  readonly caption?: string | undefined
}

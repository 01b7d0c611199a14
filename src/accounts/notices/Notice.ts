import { type Duration, Schema } from "effect"
import { AccountId, NoticeId } from "../../values/Ids.ts"
import { Timestamp } from "../../values/Timestamp.ts"

/** The subject of a notice. {@link toggleOf} says which setting of the owner it obeys. */
export type NoticeKind =
  | "webhook_unhealthy"
  | "domain_verified"
  | "domain_unverified"
  | "address_confirmation"
  | "password_changed"
  | "password_reset"
  | "passwords_guessed"
  | "second_factor_added"
  | "email_change_requested"
  | "email_changed"
  | "key_created"
  | "key_revoked"
  | "webhook_secret_rotated"
  | "quota_warning"
  | "quota_reached"
  | "high_volume"
  | "weekly_digest"
  | "codes_blocked"

/** The settings of an owner (spec 2.8). */
export const toggles = [
  "email_alerts",
  "usage_warnings",
  "weekly_digest",
  "security_alerts",
  "marketing_emails"
] as const
export type Toggle = typeof toggles[number]

/**
 * The setting that each kind of notice obeys. `always` is for mails that the owner waits for, that a thief would switch
 * off first, or that the specification gives no setting.
 */
export const toggleOf: Readonly<Record<NoticeKind, Toggle | "always">> = {
  webhook_unhealthy: "always",
  domain_verified: "always",
  domain_unverified: "always",
  address_confirmation: "always",
  password_changed: "always",
  password_reset: "always",
  second_factor_added: "always",
  email_change_requested: "always",
  email_changed: "always",
  key_created: "security_alerts",
  passwords_guessed: "security_alerts",
  codes_blocked: "security_alerts",
  webhook_secret_rotated: "security_alerts",
  key_revoked: "email_alerts",
  quota_reached: "email_alerts",
  high_volume: "email_alerts",
  quota_warning: "usage_warnings",
  weekly_digest: "weekly_digest"
}

/** Notices about the security of the account. They go before others, because a person waits for them or must act. */
const security: ReadonlySet<NoticeKind> = new Set([
  "address_confirmation",
  "password_changed",
  "password_reset",
  "passwords_guessed",
  "second_factor_added",
  "email_change_requested",
  "email_changed",
  "key_created",
  "key_revoked",
  "webhook_secret_rotated",
  "codes_blocked"
])

/** The lanes of notices, by urgency. */
export const lanes = { security: 0, other: 1 } as const

export const laneOf = (kind: NoticeKind) => security.has(kind) ? lanes.security : lanes.other

/** A mail to the owner about their account. */
export interface Notice {
  readonly accountId: AccountId
  readonly kind: NoticeKind
  /** What the notice is about, such as a webhook's id. A second one within a day is dropped. */
  readonly once?: string
  /** Replaces the account's address, if another person must know. */
  readonly recipient?: string
  readonly subject: string
  /**
   * Plain text: what happened and what to do. Paragraphs are separated by an empty line. The sender adds greeting and
   * footer.
   */
  readonly body: string
}

/** A claimed notice with the current data of its account. */
export const ClaimedNotice = Schema.Struct({
  id: NoticeId,
  account_id: AccountId,
  lane: Schema.Literals([lanes.security, lanes.other]),
  subject: Schema.String,
  body: Schema.String,
  /** Replaces `body` if the text contains a token. */
  sealed_body: Schema.NullOr(Schema.Uint8Array),
  /** Chosen before the first attempt and kept for all attempts. */
  message_id: Schema.String,
  /** Including the current attempt. Together with `due_at` it identifies the claim: an attempt may be uncounted. */
  attempt_count: Schema.Int,
  /** When it was due. Each outcome changes it. */
  due_at: Timestamp,
  /** Attempts that the relay did not answer after it had received the whole mail. */
  unconfirmed_attempts: Schema.Int,
  created_at: Timestamp,
  /** Empty if it goes to another address, because a thief with a key may have chosen the name. */
  name: Schema.String,
  email: Schema.String
})
export type ClaimedNotice = typeof ClaimedNotice.Type

/** The result of an attempt. */
export interface NoticeSettled {
  readonly status: "queued" | "sent" | "failed"
  readonly attempt_count: number
  /** The back-off of a queued notice. */
  readonly delay: Duration.Duration | undefined
  readonly error: string | null
  /** The relay may have accepted the mail without confirming it. */
  readonly isUnconfirmed: boolean
}

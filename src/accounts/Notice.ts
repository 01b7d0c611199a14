import { type Duration, Schema } from "effect"
import { AccountId, NoticeId } from "../values/Ids.ts"
import { Timestamp } from "../values/Timestamp.ts"

/** What a notice is about. Which wish of its owner it obeys, when it is due, stands in `NoticeKinds`. */
export type NoticeKind =
  | "webhook_unhealthy"
  | "domain_verified"
  | "domain_unverified"
  | "password_changed"
  | "password_reset"
  | "email_changed"
  | "key_created"
  | "key_revoked"
  | "webhook_secret_rotated"
  | "quota_warning"
  | "quota_reached"
  | "high_volume"
  | "weekly_digest"
  | "codes_blocked"

/** Something that the owner of an account should read about it. */
export interface Notice {
  readonly accountId: AccountId
  readonly kind: NoticeKind
  /** What it is about, such as the id of a webhook: then a repetition within a day is dropped. */
  readonly once?: string
  /** In the place of the account's address, where that is not who has to know. */
  readonly recipient?: string
  readonly subject: string
  /** Plain text: what happened and what to do, paragraphs apart by an empty line. Greeting and footer are added. */
  readonly body: string
}

/** A notice in the hands of its sender, with its account as it is now. */
export const ClaimedNotice = Schema.Struct({
  id: NoticeId,
  account_id: AccountId,
  subject: Schema.String,
  body: Schema.String,
  /** Chosen before the first attempt, the same in all. */
  message_id: Schema.String,
  /** With the attempt that is being made. */
  attempt_count: Schema.Int,
  /** How often the relay has fallen silent after it had the whole mail. */
  doubts: Schema.Int,
  created_at: Timestamp,
  name: Schema.String,
  email: Schema.String
})
export type ClaimedNotice = typeof ClaimedNotice.Type

/** What an attempt makes of a notice. */
export interface NoticeSettled {
  readonly status: "queued" | "sent" | "failed"
  readonly attempt_count: number
  /** When a queued one is due again. */
  readonly delay: Duration.Duration | undefined
  readonly error: string | null
  /** The relay may have taken it without saying so. */
  readonly ambiguous: boolean
}

import type { NoticeKind } from "./Notice.ts"

/** What the owner of an account may switch off (spec 2.8). */
export const toggles = [
  "email_alerts",
  "usage_warnings",
  "weekly_digest",
  "security_alerts",
  "marketing_emails"
] as const
export type Toggle = typeof toggles[number]

/**
 * Which toggle each kind of notice obeys. `always`: what somebody waits for, what a thief would switch off first, and
 * what no toggle of the specification names.
 */
export const toggleOf: Readonly<Record<NoticeKind, Toggle | "always">> = {
  webhook_unhealthy: "always",
  domain_verified: "always",
  domain_unverified: "always",
  password_changed: "always",
  password_reset: "always",
  email_changed: "always",
  key_created: "security_alerts",
  codes_blocked: "security_alerts",
  webhook_secret_rotated: "security_alerts",
  key_revoked: "email_alerts",
  quota_reached: "email_alerts",
  high_volume: "email_alerts",
  quota_warning: "usage_warnings",
  weekly_digest: "weekly_digest"
}

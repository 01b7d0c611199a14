import type { OtpLimitReason } from "./VerifyErrors.ts"

/** The codes sent in a window, and the seconds until the oldest leaves it. */
export interface SentWithin {
  readonly count: number
  readonly frees: number
}

/** The codes sent before to the recipient and to similar ones. */
export interface Sent {
  /** Seconds since the last code for the recipient; null without one within a day. */
  readonly sinceLast: number | null
  readonly hour: SentWithin
  readonly day: SentWithin
  /** From all accounts. */
  readonly hourAll: SentWithin
  readonly dayAll: SentWithin
  /** For the person's network; empty if the request names none. */
  readonly network: SentWithin
  /** For numbers with the same prefix; empty for an email address. */
  readonly prefix: SentWithin
  /** Seconds until the prefix is unblocked. */
  readonly blockedFor: number | null
}

/** The limits on codes. */
export interface CodeLimits {
  readonly resendSeconds: number
  readonly perHour: number
  readonly perDay: number
  readonly perHourAll: number
  readonly perDayAll: number
  readonly perNetworkHour: number
  readonly perPrefixHour: number
}

/** Why no code is sent, and when to retry. */
export type Refusal =
  | { readonly _tag: "Blocked"; readonly retryAfter: number }
  | {
    readonly _tag: "Limited"
    readonly reason: OtpLimitReason
    readonly limit: number
    readonly retryAfter: number
  }

const seconds = (left: number) => Math.max(1, Math.ceil(left))

/** Undefined if one more code may be sent. Of several reasons, returns the one that lasts longest. */
export const admit = (sent: Sent, limits: CodeLimits): Refusal | undefined => {
  if (sent.blockedFor !== null && sent.blockedFor > 0) return { _tag: "Blocked", retryAfter: seconds(sent.blockedFor) }
  const windows: ReadonlyArray<readonly [OtpLimitReason, SentWithin, number]> = [
    ["recipient_day", sent.day, limits.perDay],
    ["recipient_hour", sent.hour, limits.perHour],
    ["all_accounts_day", sent.dayAll, limits.perDayAll],
    ["all_accounts_hour", sent.hourAll, limits.perHourAll],
    ["client_ip_hour", sent.network, limits.perNetworkHour],
    ["prefix_hour", sent.prefix, limits.perPrefixHour]
  ]
  const reached = windows.filter(([, { count }, limit]) => count >= limit)
    .map(([reason, { frees }, limit]) => ({ _tag: "Limited" as const, reason, limit, retryAfter: seconds(frees) }))
  const cooling = limits.resendSeconds - (sent.sinceLast ?? Number.POSITIVE_INFINITY)
  const all = cooling > 0
    ? [...reached, {
      _tag: "Limited" as const,
      reason: "resend_cool_down" as const,
      limit: 1,
      retryAfter: seconds(cooling)
    }]
    : reached
  return all.toSorted((a, b) => b.retryAfter - a.retryAfter)[0]
}

import type { OtpLimitReason } from "./VerifyErrors.ts"

/** How many codes were sent in a window, and in how many seconds the oldest of them leaves it. */
export interface Window {
  readonly count: number
  readonly frees: number
}

/** What was sent before, for the recipient of a request and for those like it. */
export interface Sent {
  /** Seconds since the last code for the recipient, null when there was none for a day. */
  readonly sinceLast: number | null
  readonly hour: Window
  readonly day: Window
  /** Of the person's network; empty where the request names none. */
  readonly network: Window
  /** Of numbers that begin like this one; empty for an email address. */
  readonly prefix: Window
  /** Seconds for which the prefix is still blocked. */
  readonly blockedFor: number | null
}

/** How many codes there may be. */
export interface CodeLimits {
  readonly resendSeconds: number
  readonly perHour: number
  readonly perDay: number
  readonly perNetworkHour: number
  readonly perPrefixHour: number
}

/** Why no code is sent, and when to ask again. */
export type Refusal =
  | { readonly _tag: "Blocked"; readonly retryAfter: number }
  | {
    readonly _tag: "Limited"
    readonly reason: OtpLimitReason
    readonly limit: number
    readonly retryAfter: number
  }

const seconds = (left: number) => Math.max(1, Math.ceil(left))

/** Whether one more code may be sent: undefined when it may. Of several reasons it is the one that lasts longest. */
export const admit = (sent: Sent, limits: CodeLimits): Refusal | undefined => {
  if (sent.blockedFor !== null && sent.blockedFor > 0) return { _tag: "Blocked", retryAfter: seconds(sent.blockedFor) }
  const windows: ReadonlyArray<readonly [OtpLimitReason, Window, number]> = [
    ["recipient_day", sent.day, limits.perDay],
    ["recipient_hour", sent.hour, limits.perHour],
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

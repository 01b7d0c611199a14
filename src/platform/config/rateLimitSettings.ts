import * as Setting from "./Setting.ts"

/** The settings of the rate limits that do not depend on a plan. */
export const rateLimitSettings = {
  rateLimitLogin: Setting.int(1, 1_000_000)(
    "RATE_LIMIT_LOGIN",
    "20",
    "Logins and registrations per client network and minute (an IPv4 address, or 64 bits of IPv6)."
  ),
  rateLimitPricing: Setting.int(1, 1_000_000)(
    "RATE_LIMIT_PRICING",
    "60",
    "Requests for SMS prices per client network and minute (an IPv4 address, or 64 bits of IPv6)."
  ),
  rateLimitCodeCheck: Setting.int(1, 1_000_000)(
    "RATE_LIMIT_CODE_CHECK",
    "600",
    "Checks of one-time codes per account and minute."
  ),
  rateLimitPages: Setting.int(1, 1_000_000)(
    "RATE_LIMIT_PAGES",
    "300",
    "Pages of the console per sign-in and minute. An open page that updates itself uses at most 30 of them."
  )
} as const

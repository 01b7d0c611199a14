import * as Setting from "./Setting.ts"

/** The settings of one-time codes. */
export const otpSettings = {
  otpLimitHour: Setting.int(1, 1_000)("OTP_LIMIT_HOUR", "5", "One-time codes per recipient and hour."),
  otpLimitDay: Setting.int(1, 10_000)("OTP_LIMIT_DAY", "20", "One-time codes per recipient and day."),
  otpLimitHourAll: Setting.optional(Setting.int(1, 10_000))(
    "OTP_LIMIT_HOUR_ALL",
    "One-time codes per recipient and hour from all accounts. Unset: twice OTP_LIMIT_HOUR in production, no limit in development."
  ),
  otpLimitDayAll: Setting.optional(Setting.int(1, 100_000))(
    "OTP_LIMIT_DAY_ALL",
    "One-time codes per recipient and day from all accounts. Unset: twice OTP_LIMIT_DAY in production, no limit in development."
  ),
  otpLimitClientIp: Setting.int(1, 1_000_000)(
    "OTP_LIMIT_CLIENT_IP",
    "10",
    "One-time codes per end user's address (client_ip) and hour."
  ),
  otpLimitPrefix: Setting.int(1, 1_000_000)(
    "OTP_LIMIT_PREFIX",
    "20",
    "One-time codes per hour to phone numbers that differ only in their last four digits."
  ),
  otpCountries: Setting.optional(Setting.countries)(
    "OTP_COUNTRIES",
    "Countries (RW, UG) whose numbers may receive codes. Unset: all."
  ),
  otpResendSeconds: Setting.int(0, 600)("OTP_RESEND_SECONDS", "30", "Seconds between two codes to a recipient."),
  otpAttempts: Setting.int(1, 20)("OTP_ATTEMPTS", "5", "Wrong codes after which a verification ends.")
} as const

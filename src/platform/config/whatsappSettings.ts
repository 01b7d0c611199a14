import * as Setting from "./Setting.ts"

/** The settings of WhatsApp, in the order in which they are listed. */
export const whatsappSettings = {
  whatsappUrl: Setting.optional(Setting.wordOr("live", Setting.wordOr("sandbox", Setting.url(["ws", "wss"], false))))(
    "WHATSAPP_URL",
    "live for the real WhatsApp, the ws:// address of a compatible server, or sandbox, a simulated WhatsApp. Required in production. Unset: sandbox."
  ),
  whatsappVersion: Setting.optional(Setting.version)(
    "WHATSAPP_VERSION",
    "WhatsApp Web version to report. Set it if WhatsApp rejects this release's version (405)."
  ),
  whatsappRetries: Setting.int(1, 1000)(
    "WHATSAPP_RETRIES",
    "30",
    "Consecutive failed connection attempts before a WhatsApp session is marked failed."
  ),
  whatsappRetrySeconds: Setting.int(1, 3600)(
    "WHATSAPP_RETRY_SECONDS",
    "1",
    "Seconds before the first reconnection of a WhatsApp session; each further pause is twice as long."
  ),
  whatsappRetryLongestSeconds: Setting.int(1, 86_400)(
    "WHATSAPP_RETRY_LONGEST_SECONDS",
    "300",
    "Upper bound of these pauses, in seconds."
  ),
  whatsappPerMinute: Setting.int(0, 100_000)(
    "WHATSAPP_PER_MINUTE",
    "30",
    "Messages per WhatsApp session in a minute; 0: no limit."
  ),
  whatsappPerDay: Setting.int(0, 100_000)(
    "WHATSAPP_PER_DAY",
    "1000",
    "Messages per WhatsApp session in 24 hours; 0: no limit."
  ),
  whatsappPauseLeast: Setting.int(0, 60_000)(
    "WHATSAPP_PAUSE_MIN_MS",
    "1000",
    "Lower bound of the random pause between two messages of a WhatsApp session, in milliseconds."
  ),
  whatsappPauseMost: Setting.int(0, 60_000)(
    "WHATSAPP_PAUSE_MAX_MS",
    "3000",
    "Upper bound of that pause, in milliseconds; 0 disables it."
  ),
  whatsappMediaMiB: Setting.int(1, 2_000)("WHATSAPP_MEDIA_MIB", "64", "Size limit of a sent WhatsApp file, in MiB."),
  whatsappMediaAllowLoopback: Setting.boolean(
    "WHATSAPP_MEDIA_ALLOW_LOOPBACK",
    "false",
    "Development only: allows WhatsApp files from localhost, 127.0.0.1 and ::1, also over http."
  )
} as const

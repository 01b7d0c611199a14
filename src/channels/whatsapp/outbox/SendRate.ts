import type { AppConfig } from "../../../platform/config/AppConfig.ts"

const minute = 60_000
const day = 24 * 60 * minute

/** The rate limits of a session, so that WhatsApp does not take it for a machine (spec 8). 0 means no limit. */
export interface SendRate {
  readonly perMinute: number
  readonly perDay: number
}

/** Whether the settings make the messages of a session wait for each other. */
export const isPaced = (
  { whatsappPauseMost, whatsappPerDay, whatsappPerMinute }: Pick<
    AppConfig["Service"],
    "whatsappPauseMost" | "whatsappPerDay" | "whatsappPerMinute"
  >
): boolean => whatsappPerDay > 0 || whatsappPerMinute > 0 || whatsappPauseMost > 0

/** The times of a session's earlier messages, oldest first, and the shortest pause after the last one. */
export interface Progress {
  readonly sent: ReadonlyArray<number>
  readonly gap: number
}

/** Milliseconds until the next message may be sent: after the pause, and within both limits. */
export const waitFor = ({ perDay, perMinute }: SendRate, { gap, sent }: Progress, now: number): number => {
  const last = sent.at(-1)
  const untilAllowed = (limit: number, window: number) => {
    const first = limit === 0 ? undefined : sent[sent.length - limit]
    return first === undefined ? 0 : first + window - now
  }
  return Math.max(
    0,
    last === undefined ? 0 : last + gap - now,
    untilAllowed(perMinute, minute),
    untilAllowed(perDay, day)
  )
}

/** How many earlier messages `waitFor` needs. */
export const historySize = ({ perDay, perMinute }: SendRate): number => Math.max(perMinute, perDay, 1)

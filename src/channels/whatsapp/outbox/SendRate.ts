const minute = 60_000
const day = 24 * 60 * minute

/** How fast a session may write, so that WhatsApp does not take it for a machine (spec 8). 0 means no limit. */
export interface Pace {
  readonly perMinute: number
  readonly perDay: number
}

/** Where a session is: the moments of its earlier messages, oldest first, and the shortest pause after the last one. */
export interface Progress {
  readonly sent: ReadonlyArray<number>
  readonly gap: number
}

/** Milliseconds until the next message may go: after the pause at the earliest, and within both limits. */
export const waitFor = ({ perDay, perMinute }: Pace, { gap, sent }: Progress, now: number): number => {
  const last = sent.at(-1)
  const room = (limit: number, window: number) => {
    const first = limit === 0 ? undefined : sent[sent.length - limit]
    return first === undefined ? 0 : first + window - now
  }
  return Math.max(0, last === undefined ? 0 : last + gap - now, room(perMinute, minute), room(perDay, day))
}

/** So many earlier messages have to be known. */
export const memoryOf = ({ perDay, perMinute }: Pace): number => Math.max(perMinute, perDay, 1)

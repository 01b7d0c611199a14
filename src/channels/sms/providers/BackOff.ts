/** How long parts wait for a provider that takes none. Times are in milliseconds. */
export interface BackOff {
  /** The last wait; 0 after a success. */
  readonly millis: number
  readonly until: number
}

const longest = 60_000

export const none: BackOff = { millis: 0, until: 0 }

/** Doubles the wait, which is never shorter than `least`. All failures during one wait count as one. */
export const failed = (state: BackOff, now: number, least: number): BackOff => {
  if (now < state.until) return state
  const millis = Math.max(least, Math.min(longest, state.millis * 2))
  return { millis, until: now + millis }
}

/** How fast a carrier is asked: evenly, at no more than its rate, and slower after it said that this was too fast. */
export interface Pace {
  /** Submits per second, at present and at most. */
  readonly rate: number
  readonly most: number
  /** When the next submit is due, in milliseconds. */
  readonly nextAt: number
  readonly pausedUntil: number
  /** The pause after the last complaint. */
  readonly pause: number
}

const firstPause = 500
const longestPause = 30_000

/** Milliseconds of silence that may be made up for: a burst of a tenth of a second's worth. */
const slack = 100

export const pace = (most: number): Pace => ({ rate: most, most, nextAt: 0, pausedUntil: 0, pause: 0 })

/** Takes the next place: how long to wait for it. */
export const take = (state: Pace, now: number): { readonly next: Pace; readonly wait: number } => {
  const at = Math.max(state.nextAt, state.pausedUntil, now - slack)
  return { next: { ...state, nextAt: at + 1_000 / state.rate }, wait: Math.max(0, at - now) }
}

/** After a complaint: half as fast, after a pause that doubles. All complaints of one window are one. */
export const throttled = (state: Pace, now: number): Pace => {
  if (now < state.pausedUntil) return state
  const pause = Math.min(longestPause, Math.max(firstPause, state.pause * 2))
  return { ...state, rate: Math.max(1, state.rate / 2), pause, pausedUntil: now + pause }
}

/** After a submit that was taken: a little faster, up to the limit; the next complaint begins with a short pause again. */
export const accepted = (state: Pace): Pace =>
  state.rate === state.most && state.pause === 0
    ? state
    : { ...state, rate: Math.min(state.most, state.rate + Math.max(0.1, state.most / 100)), pause: 0 }

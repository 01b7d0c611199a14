/** How fast submits go to a carrier: evenly spread, at most at its rate, and slower after it throttles. */
export interface SmppRate {
  /** Submits per second. */
  readonly rate: number
  readonly maxRate: number
  /** When the next submit is due, in milliseconds. */
  readonly nextAt: number
  readonly pausedUntil: number
  /** The last back-off in milliseconds; 0 after an accepted submit. */
  readonly backOff: number
}

const minBackOff = 500
const maxBackOff = 30_000

/** Milliseconds of idle time that later submits may use up: a burst of a tenth of a second. */
const burst = 100

export const make = (maxRate: number): SmppRate => ({ rate: maxRate, maxRate, nextAt: 0, pausedUntil: 0, backOff: 0 })

/** Reserves the time of the next submit; `wait` is how long to wait for it. */
export const reserve = (state: SmppRate, now: number): { readonly next: SmppRate; readonly wait: number } => {
  const at = Math.max(state.nextAt, state.pausedUntil, now - burst)
  return { next: { ...state, nextAt: at + 1_000 / state.rate }, wait: Math.max(0, at - now) }
}

/** Halves the rate and doubles the back-off. All throttling answers of one window count as one. */
export const throttled = (state: SmppRate, now: number): SmppRate => {
  if (now < state.pausedUntil) return state
  const backOff = Math.min(maxBackOff, Math.max(minBackOff, state.backOff * 2))
  return { ...state, rate: Math.max(1, state.rate / 2), backOff, pausedUntil: now + backOff }
}

/** Raises the rate a little after an accepted submit, up to the maximum, and resets the back-off. */
export const accepted = (state: SmppRate): SmppRate =>
  state.rate === state.maxRate && state.backOff === 0
    ? state
    : { ...state, rate: Math.min(state.maxRate, state.rate + Math.max(0.1, state.maxRate / 100)), backOff: 0 }

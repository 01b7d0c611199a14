/** Deliveries of one webhook under way at once, while its endpoint is well. */
export const greatestWidth = 8

const leastWidth = 1
const growth = 0.1

/**
 * How many deliveries an endpoint gets at once after an attempt (additive increase, multiplicative decrease): one that
 * fails is soon asked one at a time, and ten successes give it a place back. The whole part counts.
 */
export const widthAfter = (width: number, succeeded: boolean): number =>
  succeeded ? Math.min(greatestWidth, width + growth) : Math.max(leastWidth, width / 2)

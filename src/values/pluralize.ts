/** A count as people read it: `1,234`. */
export const thousands = (count: number): string => String(count).replaceAll(/\B(?=(\d{3})+$)/g, ",")

/** So many of a thing, in the number that goes with it: `1 email`, `1,234 emails`. */
export const counted = (count: number, one: string, several = `${one}s`): string =>
  `${thousands(count)} ${count === 1 ? one : several}`

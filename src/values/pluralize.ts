/** Formats a count with thousands separators: `1,234`. */
export const thousands = (count: number): string => String(count).replaceAll(/\B(?=(\d{3})+$)/g, ",")

/** Formats a count with its noun in the singular or plural: `1 email`, `1,234 emails`. */
export const pluralize = (count: number, one: string, several = `${one}s`): string =>
  `${thousands(count)} ${count === 1 ? one : several}`

/** The median, the 99th percentile and the greatest of some values. */
export const percentiles = (values: ReadonlyArray<number>) => {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99), max: at(1) }
}

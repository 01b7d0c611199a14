import { Context, Metric } from "effect"

/** The registry that `/metrics` shows. Updates need no fiber, so hot paths count in a few hundred nanoseconds. */
const context = Context.empty()

interface Series<Value extends string> {
  readonly name: string
  readonly description: string
  readonly label: string
  /**
   * Every value that the label may have, so that the number of series is bounded and no text of a caller or a provider
   * becomes a label. Each series is 0 from the start, so that a rate sees its first change.
   */
  readonly values: ReadonlyArray<Value>
  /** Further labels that all of these have. */
  readonly fixed?: Readonly<Record<string, string>>
}

const attributesOf = <Value extends string>({ fixed, label }: Series<Value>, value: Value) => ({
  ...fixed,
  [label]: value
})

/** Counters with one name. The function adds to the one with this value. */
export const countersBy = <Value extends string>(series: Series<Value>) => {
  const { description, name, values } = series
  const counters = new Map(
    values.map((
      value
    ) => [value, Metric.counter(name, { description, incremental: true, attributes: attributesOf(series, value) })])
  )
  for (const counter of counters.values()) counter.updateUnsafe(0, context)
  return (value: Value, amount = 1): void => counters.get(value)?.updateUnsafe(amount, context)
}

/** Gauges with one name. The function sets the one with this value. */
export const gaugesBy = <Value extends string>(series: Series<Value>) => {
  const { description, name, values } = series
  const gauges = new Map(
    values.map((value) => [value, Metric.gauge(name, { description, attributes: attributesOf(series, value) })])
  )
  for (const gauge of gauges.values()) gauge.updateUnsafe(0, context)
  return (value: Value, reading: number): void => gauges.get(value)?.updateUnsafe(reading, context)
}

/** A counter without labels. */
export const counter = (name: string, description: string) => {
  const metric = Metric.counter(name, { description, incremental: true })
  metric.updateUnsafe(0, context)
  return (amount: number): void => metric.updateUnsafe(amount, context)
}

/** A gauge without labels. */
export const gauge = (name: string, description: string) => {
  const metric = Metric.gauge(name, { description })
  metric.updateUnsafe(0, context)
  return (reading: number): void => metric.updateUnsafe(reading, context)
}

/** A histogram without labels. */
export const histogram = (name: string, description: string, boundaries: ReadonlyArray<number>) => {
  const metric = Metric.histogram(name, { description, boundaries })
  // A reading would be counted, and this only registers the metric.
  metric.valueUnsafe(context)
  return (reading: number): void => metric.updateUnsafe(reading, context)
}

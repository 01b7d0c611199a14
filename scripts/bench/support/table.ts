import { Console, type Effect } from "effect"

/** One line of a bench's table: a measured value and its limit or hand-written equivalent. */
export interface Line {
  readonly metric: string
  readonly value: number
  readonly limit?: { readonly value: number; readonly name: string }
  /** The median of the rounds' ratios, where it is more exact than the ratio of the two medians. */
  readonly ratio?: number
}

/** The middle value; of an even count, the upper of the two middle values. */
export const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const figure = (value: number) =>
  value >= 100 ? Math.round(value).toLocaleString("en-US") : value.toFixed(value >= 10 ? 1 : 2)

const cellsOf = ({ limit, metric, ratio, value }: Line) => [
  metric,
  figure(value),
  limit === undefined ? "" : figure(limit.value),
  limit === undefined ? "" : (ratio ?? value / limit.value).toFixed(2),
  limit?.name ?? ""
]

/** Prints a table with the columns metric, value, limit, ratio and the limit's name. */
export const printTable = (title: string, lines: ReadonlyArray<Line>): Effect.Effect<void> => {
  const rows = [["", "value", "limit", "ratio", "the limit is"], ...lines.map(cellsOf)]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => (row[column] ?? "").length)))
  const text = rows.map((row) => {
    const cells = row.slice(0, 4).map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)
    )
    return [...cells, row[4]].join("  ").trimEnd()
  })
  return Console.log(`\n${title}\n${text.join("\n")}`)
}

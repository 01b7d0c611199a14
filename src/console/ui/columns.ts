/** Stacked columns over time as SVG, with the numbers as a table. Pure. */
import { type Html, html } from "../../platform/http/html.ts"
import type { Ask } from "../page/Ask.ts"
import { listed, number, type Tone } from "./parts.ts"
import { table } from "./table.ts"

/** One part of every column. */
export interface Series {
  readonly label: string
  readonly tone: Tone
}

/** A column: an hour or a day. `counts` has one number for each series. */
export interface Stack {
  readonly label: string
  readonly counts: ReadonlyArray<number>
}

interface Options {
  readonly title: string
  /** The name of the table's first column. */
  readonly time: string
  /** The name of its last column. */
  readonly total: string
  /** What opens the table. */
  readonly show: string
  readonly series: ReadonlyArray<Series>
  /** The oldest first. */
  readonly stacks: ReadonlyArray<Stack>
}

const width = 1000
const height = 100

/** The part of a column's place that it fills. */
const breadth = 0.72

/** Labels under the columns. */
const mostMarks = 5

const sum = (counts: ReadonlyArray<number>) => counts.reduce((total, count) => total + count, 0)

/** The end of the axis: the next of 4, 10, 20, 40, 50, 100, 200 and so on. Its half is a whole number. */
export const roundedUp = (most: number): number => {
  if (most <= 4) return 4
  const power = 10 ** Math.floor(Math.log10(most))
  return ([2, 4, 5, 10].find((step) => step * power >= most && (step * power) % 2 === 0) ?? 10) * power
}

interface Place {
  readonly index: number
  /** The width of a column's place. */
  readonly step: number
  /** The number at the upper end. */
  readonly top: number
}

const column = ({ series }: Options, { counts }: Stack, { index, step, top }: Place) => {
  let below = 0
  return counts.flatMap((count, part) => {
    if (count <= 0) return []
    const size = count / top * height
    below += size
    return [
      html`<rect class="${series[part]?.tone ?? "quiet"}" x="${((index + (1 - breadth) / 2) * step).toFixed(1)}" y="${
        (height - below).toFixed(2)
      }" width="${(breadth * step).toFixed(1)}" height="${size.toFixed(2)}"></rect>`
    ]
  })
}

/** The labels of some columns at equal distances, the first and the last among them. */
const marksOf = (stacks: ReadonlyArray<Stack>) => {
  const last = stacks.length - 1
  const count = Math.min(mostMarks, stacks.length)
  return Array.from(
    { length: count },
    (_, index) => stacks[count === 1 ? 0 : Math.round(index * last / (count - 1))]?.label ?? ""
  )
}

/** The columns with their legend, and the table of the same numbers. The labels are text, so that they never shrink. */
export const columns = (ask: Ask, options: Options): Html => {
  const { series, show, stacks, time, title, total } = options
  const top = roundedUp(Math.max(...stacks.map(({ counts }) => sum(counts)), 0))
  const step = width / Math.max(1, stacks.length)
  const compact = new Intl.NumberFormat(ask.t.intl, { notation: "compact" })
  const whole = (part: number) => number(ask, sum(stacks.map(({ counts }) => counts[part] ?? 0)))
  const said = listed(ask, series.map(({ label }, part) => `${label}: ${whole(part)}`))
  return html`<figure class="graph"><div class="plot" dir="ltr"><div class="scale" aria-hidden="true">${
    [top, top / 2, 0].map((value) => html`<span>${compact.format(value)}</span>`)
  }</div><svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${title}. ${said}">${
    [0, height / 2, height].map((y) => html`<line x1="0" x2="${width}" y1="${y}" y2="${y}"></line>`)
  }${
    stacks.flatMap((stack, index) => column(options, stack, { index, step, top }))
  }</svg><div class="marks" aria-hidden="true">${
    marksOf(stacks).map((label) => html`<span>${label}</span>`)
  }</div></div>
<figcaption><dl class="legend">${
    series.map(({ label, tone }, part) => html`<div class="${tone}"><dt>${label}</dt><dd>${whole(part)}</dd></div>`)
  }</dl></figcaption>
<details class="more"><summary>${show}</summary>${
    table(title, [
      { label: time, cell: ({ label }) => label },
      ...series.map(({ label }, part) => ({
        label,
        kind: "number" as const,
        cell: ({ counts }: Stack) => number(ask, counts[part] ?? 0)
      })),
      { label: total, kind: "number", cell: ({ counts }) => number(ask, sum(counts)) }
    ], stacks.filter(({ counts }) => sum(counts) > 0))
  }</details></figure>`
}

import { Effect } from "effect"
import { eventually, type RunningNode } from "./Service.ts"
import { longer } from "./waiting.ts"

/** One line of `/metrics`. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Reads the text of `/metrics`. */
export const parseMetrics = (text: string): ReadonlyArray<Sample> =>
  text.split("\n").flatMap((line) => {
    const [, name, labels = "", value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (name === undefined) return []
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = "", text = ""]) => [label, text])
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }]
  })

/** Scrapes a node with this METRICS_PORT. */
export const scrape = (node: RunningNode, port: number) =>
  Effect.map(
    node.request("GET", "/metrics", { origin: `http://127.0.0.1:${port}` }),
    ({ text }) => parseMetrics(text)
  )

/** A sample that a test expects, such as `messages_sent_total channel=sms`. */
const keyOf = ({ labels, name }: Sample) =>
  [name, ...Object.entries(labels).sort().map(([label, value]) => `${label}=${value}`)].join(" ")

/** The values of these samples; undefined for one that does not exist. */
export const valuesOf = (samples: ReadonlyArray<Sample>, keys: ReadonlyArray<string>) => {
  const found = new Map(samples.map((sample) => [keyOf(sample), sample.value]))
  return Object.fromEntries(keys.map((key) => [key, found.get(key)]))
}

/** Scrapes until these samples have these values. */
export const untilMetrics = (
  { node, port }: { readonly node: RunningNode; readonly port: number },
  expected: Readonly<Record<string, number>>
) =>
  eventually(
    Effect.map(scrape(node, port), (samples) => valuesOf(samples, Object.keys(expected))),
    (values) => Object.entries(expected).every(([key, value]) => values[key] === value),
    longer.turn
  )

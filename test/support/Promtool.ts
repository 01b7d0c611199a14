/** Prometheus's own tester, with series that nodes have really shown. */
import { Effect } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { promisify } from "node:util"
import { root } from "../docs/documents.ts"
import type { Sample } from "./metrics.ts"
import { programAt } from "./programs.ts"

const program = programAt("promtool")

/** False where Debian's package `prometheus` is not installed. */
export const hasPromtool = program !== undefined

/** The rules of docs/deploy. */
export const rules = NodePath.join(root, "docs/deploy/prometheus/alerts.yml")

/** Runs promtool, and fails with its output. */
export const promtool = (...words: ReadonlyArray<string>) =>
  Effect.promise(() => promisify(NodeChildProcess.execFile)(program ?? "promtool", words))

type Samples = ReadonlyArray<Sample>

/** What Prometheus saw of one node: at first, and a minute later. The same change repeats in each minute. */
export interface Seen {
  readonly before: Samples
  /** Absent while nothing changes. */
  readonly after?: Samples
  /** Gauges that had further values in the last twenty minutes, ten minutes each. */
  readonly later?: ReadonlyArray<Samples>
}

const minutes = 120

const seriesOf = ({ labels, name }: Sample, instance: string) =>
  `${name}{${
    Object.entries({ ...labels, instance, job: "messaging" }).map(([label, value]) =>
      `${label}=${JSON.stringify(value)}`
    )
      .join(",")
  }}`

const isGauge = (name: string) => !/_(?:total|bucket|sum|count)$/.test(name)

/** Two hours of a node: gauges stay at their last value, and counters grow by the same amount in each minute. */
const inputsOf = ({ after, before, later = [] }: Seen, instance: string) => {
  const last = after ?? before
  const laterOf = (series: string) =>
    later.map((samples) => samples.find((sample) => seriesOf(sample, instance) === series)?.value ?? "_")
  const first = new Map(before.map((sample) => [seriesOf(sample, instance), sample.value]))
  return last.filter(({ value }) => Number.isFinite(value)).map((sample) => {
    const series = seriesOf(sample, instance)
    // A node that was started later counts from 0.
    const begun = Math.min(first.get(series) ?? 0, sample.value)
    return isGauge(sample.name)
      ? {
        series,
        values: [sample.value, ...laterOf(series)].map((value, index) =>
          `${value}x${index === 0 ? minutes - 20 - 10 * later.length + 10 : 9}`
        ).join(" ")
      }
      : { series, values: `${begun}+${sample.value - begun}x${minutes}` }
  })
}

/** Fails unless exactly these alerts fire, among those given, after 110 minutes of what Prometheus saw of these nodes. */
export const assertAlerts = (
  nodes: Readonly<Record<string, Seen>>,
  expected: Readonly<Record<string, boolean>>
) =>
  Effect.scoped(Effect.gen(function*() {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "promtool-"))),
      (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
    )
    const file = NodePath.join(folder, "alerts.test.json")
    const test = {
      interval: "1m",
      input_series: Object.entries(nodes).flatMap(([instance, seen]) => inputsOf(seen, instance)),
      promql_expr_test: Object.entries(expected).map(([alert, fires]) => ({
        expr: `clamp_max(count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0), 1)`,
        eval_time: "110m",
        exp_samples: [{ labels: "{}", value: fires ? 1 : 0 }]
      }))
    }
    // JSON is YAML.
    NodeFs.writeFileSync(file, JSON.stringify({ rule_files: [rules], evaluation_interval: "1m", tests: [test] }))
    yield* promtool("test", "rules", file)
  }))

/** The dashboard and the alerts ask only for metrics and labels that a node has, and promtool understands each expression. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { parse } from "yaml"
import { read } from "../docs/documents.ts"
import { freePort } from "../support/freePort.ts"
import { scrape } from "../support/metrics.ts"
import { hasPromtool, promtool } from "../support/Promtool.ts"
import { startNode } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

interface Panel {
  readonly title: string
  readonly type: string
  readonly targets?: ReadonlyArray<{ readonly expr: string }>
}

const panels: ReadonlyArray<Panel> = JSON.parse(read("docs/deploy/prometheus/dashboard.json")).panels

const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

const alerts: ReadonlyArray<{ readonly alert: string; readonly expr: string }> = parse(
  read("docs/deploy/prometheus/alerts.yml")
).groups[0].rules

/** Labels that Prometheus adds, and those of histograms. */
const added = new Set(["job", "instance", "le"])

const inBrackets = /\{([^}]*)\}/g

/** The metrics of an expression, each with the labels that it selects. */
const selectorsOf = (expr: string) =>
  [...expr.matchAll(/\b([a-z_]+)\{([^}]*)\}/g)].map(([, name = "", labels = ""]) => ({
    name,
    labels: [...labels.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = ""]) => label)
  }))

const groupedBy = (expr: string) =>
  [...expr.replaceAll(inBrackets, "").matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = ""]) => labels.split(/, ?/))

layer(TestDatabase.layer, { excludeTestServices: true })("docs/deploy/prometheus", (it) => {
  it.effect("the dashboard and the alerts name only metrics and labels that a node shows", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      const node = yield* startNode({ env: { METRICS_PORT: String(port), DATABASE_SIZE_LIMIT_GB: "100" } })
      yield* node.request("GET", "/health/ready")
      const known = new Map<string, Set<string>>([["up", new Set()]])
      for (const { labels, name } of yield* scrape(node, port)) {
        const ofName = known.get(name) ?? new Set(added)
        known.set(name, ofName)
        for (const label of Object.keys(labels)) ofName.add(label)
      }
      for (const expr of [...shown, ...alerts.map(({ expr }) => expr)]) {
        const selectors = selectorsOf(expr)
        assert.isAbove(selectors.length, 0, expr)
        for (const { labels, name } of selectors) {
          assert.isTrue(known.has(name), `${name} in ${expr}`)
          for (const label of labels) {
            assert.isTrue(added.has(label) || known.get(name)?.has(label), `${label} in ${expr}`)
          }
        }
        const all = new Set(selectors.flatMap(({ name }) => [...known.get(name) ?? []]))
        for (const label of groupedBy(expr)) assert.isTrue(all.has(label) || added.has(label), `${label} in ${expr}`)
      }
    }))

  it.effect("each metric of docs/guides/monitoring.md that a node has is on the dashboard or in an alert", () =>
    Effect.sync(() => {
      const listed = [...read("docs/guides/monitoring.md").matchAll(/^\| `(\w+)` \|/gm)].map(([, name = ""]) => name)
      const used = [...shown, ...alerts.map(({ expr }) => expr)].join("\n")
      const unused = listed.filter((name) => !used.includes(name))
      assert.deepStrictEqual(unused, ["nodejs_heap_size_limit_bytes"])
    }))

  it.effect.skipIf(!hasPromtool)("promtool understands each expression of the dashboard", () =>
    Effect.gen(function*() {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "dashboard-"))),
        (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
      )
      const rules = shown.map((expr, index) => ({
        record: `panel:${index}`,
        expr: expr.replaceAll("$__rate_interval", "5m")
      }))
      const file = NodePath.join(folder, "panels.yml")
      NodeFs.writeFileSync(file, JSON.stringify({ groups: [{ name: "panels", rules }] }))
      yield* promtool("check", "rules", file)
    }))
})

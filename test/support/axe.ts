import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as NodeFs from "node:fs"
import * as NodeModule from "node:module"
import type { BrowserPage } from "./Chromium.ts"

const axe = NodeFs.readFileSync(NodeModule.createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

const Violations = Schema.Array(Schema.Struct({ id: Schema.String, targets: Schema.Array(Schema.String) }))

const check =
  `axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => ({ id, targets: nodes.map(({ target }) => target.join(" ")) })))`

/** A window's width in CSS pixels, and the theme of its system. */
export interface View {
  readonly width: number
  readonly scheme: "light" | "dark"
}

export const look = Effect.fnUntraced(function*(page: BrowserPage, { scheme, width }: View) {
  yield* page.command("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] })
  yield* page.command("Emulation.setDeviceMetricsOverride", { width, height: 800, deviceScaleFactor: 1, mobile: false })
})

/** No violation of WCAG 2.2 AA in this view, and nothing to scroll sideways. */
export const assertAccessibleIn = Effect.fnUntraced(function*(page: BrowserPage, view: View) {
  yield* look(page, view)
  if ((yield* page.evaluate("typeof axe")) === "undefined") yield* page.evaluate(axe)
  const found = yield* Schema.decodeUnknownEffect(Violations)(yield* page.evaluate(check))
  const address = `${yield* page.evaluate("location.pathname + location.search")} ${view.scheme} ${view.width}`
  assert.deepStrictEqual(found, [], address)
  assert.strictEqual(yield* page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true, address)
})

/** No violation in a wide and in a narrow window, light and dark. The window is then as it was opened. */
export const assertAccessible = Effect.fnUntraced(function*(page: BrowserPage) {
  for (const width of [1280, 360]) {
    for (const scheme of ["light", "dark"] as const) yield* assertAccessibleIn(page, { width, scheme })
  }
  yield* page.command("Emulation.clearDeviceMetricsOverride")
})

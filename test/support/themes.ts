/** How a page looks with the colours that a person has forced on it, and to a person who wants nothing to move. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { View } from "./axe.ts"
import type { BrowserPage } from "./Chromium.ts"
import { keys, press } from "./hands.ts"

/**
 * What a person would miss: a current link like the others, marks of two meanings that look the same, a focus that nothing
 * shows, and what moves.
 */
const faults = `(() => {
  const faults = []
  const say = (what, { outerHTML }) => faults.push(what + " " + outerHTML.slice(0, 150))
  const lookOf = (style) =>
    ["backgroundColor", "color", "borderBlockEnd", "borderInlineStart", "outline"].map((name) => style[name]).join()
  for (const current of document.querySelectorAll("a[aria-current]")) {
    const other = [...current.closest("nav, ul").querySelectorAll("a:not([aria-current])")][0]
    if (other && lookOf(getComputedStyle(other)) === lookOf(getComputedStyle(current))) say("not marked as current", current)
  }
  const marks = new Map()
  for (const [selector, pseudo, name] of [
    [".timeline > li", "::before", "backgroundColor"],
    [".legend > div", "dt", "backgroundColor"],
    [".meter rect, .plot rect", undefined, "fill"]
  ]) {
    for (const element of document.querySelectorAll(selector)) {
      const tone = element.className.baseVal ?? element.className
      const holder = pseudo === "dt" ? element.querySelector("dt") : element
      const color = getComputedStyle(holder, pseudo === undefined ? undefined : "::before")[name]
      if (color === getComputedStyle(document.body).backgroundColor) say("mark without a colour", element)
      const known = marks.get(color) ?? tone
      if (known !== tone) say("same mark as " + known, element)
      marks.set(color, tone)
    }
  }
  const { outlineColor, outlineStyle } = getComputedStyle(document.activeElement)
  const isSeen = outlineStyle !== "none" && outlineColor !== getComputedStyle(document.body).backgroundColor
  if (document.activeElement !== document.body && !isSeen) say("focus without a mark", document.activeElement)
  for (const element of document.querySelectorAll("*")) {
    for (const pseudo of [undefined, "::before", "::after"]) {
      const style = getComputedStyle(element, pseudo)
      const lasts = [style.transitionDuration, style.animationDuration].some((times) => /[1-9]/.test(times))
      if (lasts || style.scrollBehavior === "smooth") say("moves", element)
    }
  }
  if (document.getAnimations().length > 0) faults.push("an animation runs")
  return faults
})()`

/** Nothing is said by a background alone, and nothing moves. */
export const assertThemes = Effect.fnUntraced(function*(page: BrowserPage, { scheme }: View) {
  const features = [
    ["forced-colors", "active"],
    ["prefers-reduced-motion", "reduce"],
    ["prefers-color-scheme", scheme]
  ].map(([name, value]) => ({ name, value }))
  yield* page.command("Emulation.setEmulatedMedia", { features })
  assert.isTrue(
    yield* page.evaluate(`matchMedia("(forced-colors: active) and (prefers-reduced-motion: reduce)").matches`)
  )
  yield* press(page, keys.tab)
  assert.deepStrictEqual(yield* page.evaluate(faults), [], String(yield* page.evaluate("location.pathname")))
})

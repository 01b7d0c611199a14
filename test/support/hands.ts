/** The hands of a person in front of a page: with the pointer, or with the keyboard alone. They count what they press. */
import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { BrowserPage } from "./Chromium.ts"
import { fieldNamed, type } from "./look.ts"

const enter = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\r" }
const tab = { key: "Tab", code: "Tab", windowsVirtualKeyCode: 9 }

export const keys = {
  enter,
  tab,
  back: { ...tab, modifiers: 8 },
  escape: { key: "Escape", code: "Escape", windowsVirtualKeyCode: 27 },
  down: { key: "ArrowDown", code: "ArrowDown", windowsVirtualKeyCode: 40 },
  right: { key: "ArrowRight", code: "ArrowRight", windowsVirtualKeyCode: 39 },
  all: { key: "a", code: "KeyA", windowsVirtualKeyCode: 65, modifiers: 2, commands: ["selectAll"] }
} as const

/** Presses a key where the focus is. A single character is also typed. */
export const press = Effect.fnUntraced(
  function*(page: BrowserPage, pressed: string | Readonly<Record<string, unknown>>) {
    const key = typeof pressed === "string" ? { key: pressed, text: pressed } : pressed
    yield* page.command("Input.dispatchKeyEvent", { type: "keyDown", ...key })
    yield* page.command("Input.dispatchKeyEvent", { type: "keyUp", ...key, text: "" })
  }
)

const Focus = Schema.Struct({ isThere: Schema.Boolean, at: Schema.String, fault: Schema.String })

const decodeFocus = Schema.decodeUnknownEffect(Focus)

/**
 * Where the focus is. A fault if a person does not see it: nothing marks it, something covers a corner of it, or all of it is
 * outside the window. A browser scrolls to the line that is typed, not to a whole field.
 */
const focused = (selector: string) =>
  `(() => {
    const at = document.activeElement
    const said = { isThere: at.matches(${JSON.stringify(selector)}), at: at.outerHTML.slice(0, 200), fault: "" }
    if (at === document.body || at.matches("main, iframe, .problem")) return said
    const [{ bottom, left, right, top }] = at.getClientRects()
    const corners = [[left + 3, top + 3], [right - 3, top + 3], [left + 3, bottom - 3], [right - 3, bottom - 3]]
    const found = corners.map(([x, y]) => document.elementFromPoint(x, y)).filter((one) => one !== null)
    const isSeen = found.length > 0 && found.every((one) => at.contains(one) || one.contains(at))
    const fault = !isSeen ? "covered" : getComputedStyle(at).outlineStyle === "none" ? "not marked" : ""
    return { ...said, fault }
  })()`

/** Where a page has a link to its content, the first press of Tab leads to it. */
const canSkip = `document.activeElement === document.body && document.querySelector(".skip") !== null`

/** Most elements of a page that take the focus. */
const mostSteps = 400

const walk = Effect.fnUntraced(function*(page: BrowserPage, selector: string, key: Readonly<Record<string, unknown>>) {
  for (let step = 0; step < mostSteps; step++) {
    const { at, fault, isThere } = yield* Effect.orDie(decodeFocus(yield* page.evaluate(focused(selector))))
    assert.strictEqual(fault, "", at)
    if (isThere) return
    yield* press(page, key)
  }
  assert.fail(`No way by the keyboard to ${selector}`)
})

/** Moves the focus by a key until it is at the selector's element, and sees it all the way. */
export const reach = Effect.fnUntraced(
  function*(page: BrowserPage, selector: string, key: Readonly<Record<string, unknown>> = tab) {
    yield* page.until(
      `document.readyState === "complete" && document.querySelector(${JSON.stringify(selector)}) !== null`
    )
    if (selector.startsWith("main ") && (yield* page.evaluate(canSkip)) === true) {
      yield* walk(page, ".skip", tab)
      yield* press(page, enter)
      yield* page.until(`document.activeElement.id === "main"`)
    }
    yield* walk(page, selector, key)
  }
)

/** What the jobs of the console need. A press of a link, a button or Enter counts; typing and choosing does not. */
export interface Hands {
  readonly page: BrowserPage
  readonly click: BrowserPage["click"]
  readonly type: (name: string, text: string) => Effect.Effect<unknown>
  /** Types a time such as `2020-01-31T00:00`. */
  readonly time: (name: string, text: string) => Effect.Effect<unknown>
  readonly choose: (name: string, value: string) => Effect.Effect<unknown>
  /** Types into the search of the header, and presses Enter. */
  readonly find: (text: string) => Effect.Effect<unknown>
  /** Opens a page of the navigation. Where that is a menu, it is opened first. */
  readonly place: (path: string) => Effect.Effect<unknown>
  readonly clicks: () => number
}

const isShown = (selector: string) =>
  `document.readyState === "complete" && document.querySelector(${
    JSON.stringify(selector)
  })?.checkVisibility() === true`

interface Given extends Pick<Hands, "click" | "type" | "time" | "choose"> {
  readonly focus: (selector: string) => Effect.Effect<unknown>
}

const handsOf = (page: BrowserPage, { focus, ...given }: Given): Hands => {
  let clicks = 0
  const pressed = Effect.sync(() => void clicks++)
  const click: Hands["click"] = (selector) => Effect.tap(given.click(selector), () => pressed)
  const through = Effect.fnUntraced(function*(selector: string, menu: string) {
    yield* page.until(`${isShown(selector)} || ${isShown(menu)}`)
    if ((yield* page.evaluate(isShown(selector))) !== true) yield* click(menu)
  })
  return {
    ...given,
    page,
    click,
    place: Effect.fnUntraced(function*(path: string) {
      const link = `.nav a[href$='${path}']`
      yield* through(link, ".nav > summary")
      yield* click(link)
    }),
    find: Effect.fnUntraced(function*(text: string) {
      yield* through("#find-q", "a.find")
      yield* page.until(`${isShown("#find-q")} || ${isShown("#filter-q")}`)
      yield* focus((yield* page.evaluate(isShown("#find-q"))) === true ? "#find-q" : "#filter-q")
      yield* page.command("Input.insertText", { text })
      yield* press(page, enter)
      yield* pressed
    }),
    clicks: () => clicks
  }
}

const choice = (name: string, value: string) => `main [name='${name}'][value='${value}']`

export const withPointer = (page: BrowserPage): Hands =>
  handsOf(page, {
    focus: (selector) => page.evaluate(`document.querySelector(${JSON.stringify(selector)}).focus()`),
    click: page.click,
    type: (name, text) => type(page, name, text),
    time: (name, text) => type(page, name, text),
    choose: (name, value) => page.click(choice(name, value))
  })

export const withKeyboard = (page: BrowserPage): Hands =>
  handsOf(page, {
    focus: (selector) => reach(page, selector),
    click: (selector) => Effect.andThen(reach(page, selector), press(page, enter)),
    type: Effect.fnUntraced(function*(name, text) {
      yield* reach(page, fieldNamed(name))
      yield* press(page, keys.all)
      yield* page.command("Input.insertText", { text })
    }),
    // In the order of American English, the language of a browser that has no other.
    time: Effect.fnUntraced(function*(name, text) {
      yield* reach(page, fieldNamed(name))
      const [, year = "", month, day, hour, minute] = /^(....)-(..)-(..)T(..):(..)$/.exec(text) ?? []
      const hours = Number(hour)
      for (const digit of `${month}${day}${year}`) yield* press(page, digit)
      yield* press(page, keys.right)
      for (const sign of `${String(hours % 12 || 12).padStart(2, "0")}${minute}${hours < 12 ? "a" : "p"}`) {
        yield* press(page, sign)
      }
    }),
    choose: Effect.fnUntraced(function*(name, value) {
      yield* reach(page, `main [name='${name}']`)
      yield* reach(page, choice(name, value), keys.down)
    })
  })

/** The keys of the console, pressed in a real browser. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { chromium } from "../support/Chromium.ts"
import { keys, press, reach } from "../support/hands.ts"
import { look, said, titled, visitor } from "../support/look.ts"
import { Service } from "../support/Service.ts"

const isInRow = (index: number) =>
  `document.querySelectorAll("main .list tbody tr")[${index}].contains(document.activeElement)`

const isInSearch = `document.activeElement.id === "find-q"`

const hasDialog = `document.querySelector("dialog[open]") !== null`

layer(Service.layer(), { excludeTestServices: true })("the keys of the console", (it) => {
  /** The list of two messages. */
  const listOfTwo = Effect.gen(function*() {
    const visit = yield* visitor
    for (const to of ["+250788123456", "+250788123457"]) {
      yield* visit.node.request("POST", "/v1/sms/send", { key: visit.key, json: { to, content: "Ready" } })
    }
    yield* visit.page.open(`${visit.at}/messages`)
    yield* visit.page.until(titled("Messages"))
    return visit
  })

  it.effect.skipIf(chromium === undefined)(
    "a person reads the list of keys, moves in a list, opens a row, and goes to a page by its letter",
    () =>
      Effect.gen(function*() {
        const { page } = yield* listOfTwo
        yield* press(page, "?")
        yield* page.until(hasDialog)
        yield* look(page, "shortcuts")
        yield* press(page, "j")
        assert.isFalse(yield* page.evaluate(isInRow(0)))
        yield* press(page, keys.escape)
        yield* page.until(`!(${hasDialog})`)
        yield* press(page, "j")
        yield* page.until(isInRow(0))
        yield* press(page, "j")
        yield* page.until(isInRow(1))
        yield* press(page, "j")
        yield* page.until(isInRow(1))
        // The same key of an Arabic keyboard.
        yield* press(page, { key: "ن", code: "KeyK", text: "ن" })
        yield* page.until(isInRow(0))
        yield* press(page, keys.enter)
        yield* page.until(titled("SMS to +250788123457"))
        yield* press(page, "g")
        yield* press(page, "w")
        yield* page.until(titled("Webhooks"))
        yield* page.click("details.person summary")
        yield* page.click("[data-shortcuts]")
        yield* page.until(hasDialog)
        yield* page.click("dialog[open] button")
        yield* page.until(`!(${hasDialog}) && document.activeElement.matches("details.person summary")`)
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a person types the same characters into the search",
    () =>
      Effect.gen(function*() {
        const { page } = yield* listOfTwo
        yield* press(page, "/")
        yield* page.until(isInSearch)
        for (const key of ["g", "w", "?", "/", "j"]) yield* press(page, key)
        assert.strictEqual(yield* page.evaluate("document.activeElement.value"), "gw?/j")
        assert.isFalse(yield* page.evaluate(hasDialog))
        yield* page.until(titled("Messages"))
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a person switches the single keys off, and still opens the search",
    () =>
      Effect.gen(function*() {
        const { at, origin, page } = yield* listOfTwo
        yield* page.open(`${origin}/console/me`)
        yield* page.click("main [name=has_shortcuts]")
        yield* page.click("main form.form .buttons button")
        yield* page.until(said("Your profile was saved."))
        yield* page.open(`${at}/messages`)
        for (const key of ["?", "j", "/", "g", "w"]) yield* press(page, key)
        assert.isFalse(yield* page.evaluate(`${hasDialog} || ${isInRow(0)} || ${isInSearch}`))
        yield* press(page, { key: "k", code: "KeyK", modifiers: 2 })
        yield* page.until(isInSearch)
        yield* page.until(titled("Messages"))
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a person moves back from the end of a long page to its start, and the header never covers where they are",
    () =>
      Effect.gen(function*() {
        const { at, page } = yield* visitor
        yield* page.command("Emulation.setEmulatedMedia", {
          features: [{ name: "prefers-reduced-motion", value: "reduce" }]
        })
        yield* page.open(`${at}/webhooks/new`)
        yield* reach(page, ".skip", keys.back)
      })
  )
})

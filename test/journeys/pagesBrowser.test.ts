/** The pages of the first minutes in a real browser: from `/` to the reference, the sandbox and the guides. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { assertAccessible, look } from "../support/axe.ts"
import { type BrowserPage, chromium, openPage } from "../support/Chromium.ts"
import { makeAccount, sandboxToken, Service } from "../support/Service.ts"

/** The first button or link with a text, as an expression. */
const withText = (selector: string, text: RegExp) =>
  `[...document.querySelectorAll(${JSON.stringify(selector)})].find((one) => ${text}.test(one.textContent.trim()))`

/** The reference draws the whole API, which takes long beside other tests. */
const drawing = "60 seconds"

const clickText = (page: BrowserPage, selector: string, text: RegExp) =>
  Effect.andThen(
    page.until(`${withText(selector, text)} !== undefined`, drawing),
    page.evaluate(`${withText(selector, text)}.click()`)
  )

const isAt = (path: string) => `location.pathname === ${JSON.stringify(path)} && document.readyState === "complete"`

const heads = (title: string) => `document.querySelector("h1")?.textContent.includes(${JSON.stringify(title)}) === true`

/** Pastes a key once into the reference, and sends a request with it. */
const triesRequest = Effect.fnUntraced(
  function*(page: BrowserPage, { baseUrl, key }: { readonly baseUrl: string; readonly key: string }) {
    yield* page.until(`document.querySelector("input[placeholder=Token]") !== null`, drawing)
    yield* page.evaluate(`document.querySelector("input[placeholder=Token]").focus()`)
    yield* page.command("Input.insertText", { text: key })
    yield* clickText(page, "button", /API keys$/)
    yield* clickText(page, "button, a", /^List API keys/)
    yield* clickText(page, "button", /^Test Request.*get \/v1\/api-keys\)$/)
    const send = withText("button", /^Send.*get request to/)
    yield* page.until(`${send} !== undefined`, drawing)
    assert.match(String(yield* page.evaluate(`${send}.textContent`)), new RegExp(` to ${baseUrl}/v1/api-keys$`))
    yield* page.evaluate(`${send}.click()`)
    yield* page.until(`document.body.textContent.includes(${JSON.stringify(`"key_prefix": "${key.slice(0, 12)}"`)})`)
  }
)

layer(Service.layer({ env: { MODE: "development" } }), { excludeTestServices: true })(
  "first pages in a browser",
  (it) => {
    it.effect.skipIf(chromium === undefined)(
      "a person opens the reference from /, pastes a key once and sends a request with it",
      () =>
        Effect.gen(function*() {
          const { baseUrl } = yield* Service
          const { key } = yield* makeAccount()
          const page = yield* openPage
          yield* page.command("Emulation.setDeviceMetricsOverride", {
            width: 1280,
            height: 800,
            deviceScaleFactor: 1,
            mobile: false
          })
          yield* page.open(`${baseUrl}/`)
          yield* clickText(page, "a", /^API reference$/)
          yield* page.until(isAt("/docs"), drawing)
          yield* triesRequest(page, { baseUrl, key })
          // The reference comes without its vendor's tools.
          const text = String(yield* page.evaluate("document.body.innerText"))
          for (const tool of ["Generate SDKs", "Developer Tools", "Open API Client"]) assert.notInclude(text, tool)
          yield* look(page, { width: 360, scheme: "light" })
          yield* page.evaluate("scrollTo(100, 0)")
          assert.strictEqual(yield* page.evaluate("scrollX"), 0)
        })
    )

    it.effect.skipIf(chromium === undefined)(
      "a person reaches every part of the sandbox from /, and axe finds no violation on /",
      () =>
        Effect.gen(function*() {
          const { baseUrl } = yield* Service
          const page = yield* openPage
          yield* page.open(`${baseUrl}/?token=${sandboxToken}`)
          yield* assertAccessible(page)
          for (const part of ["mail", "sms", "phones"]) {
            yield* page.open(`${baseUrl}/`)
            yield* page.click(`a[href='/sandbox/${part}']`)
            yield* page.until(isAt(`/sandbox/${part}`))
            yield* assertAccessible(page)
            for (const tab of ["mail", "sms", "phones"]) {
              yield* page.click(`.parts a[href='/sandbox/${tab}']`)
              yield* page.until(isAt(`/sandbox/${tab}`))
            }
          }
        })
    )

    it.effect.skipIf(chromium === undefined)(
      "a person reads each guide from the list of guides, and axe finds no violation",
      () =>
        Effect.gen(function*() {
          const { baseUrl } = yield* Service
          const page = yield* openPage
          yield* page.open(`${baseUrl}/docs/guides`)
          yield* page.until(heads("Guides"))
          yield* assertAccessible(page)
          const paths = `[...document.querySelectorAll("li a[href^='/docs/guides/']")].map((one) => one.pathname)`
          const guides = yield* page.evaluate(paths) as Effect.Effect<ReadonlyArray<string>>
          assert.isAbove(guides.length, 10)
          for (const guide of guides) {
            yield* page.click(`a[href='${guide}']`)
            yield* page.until(isAt(guide))
            yield* assertAccessible(page)
            yield* page.open(`${baseUrl}/docs/guides`)
          }
        })
    )
  }
)

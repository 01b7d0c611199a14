/** A person who is signed in to the console in a real browser, and what tests look at. */
import { Effect } from "effect"
import * as NodeFs from "node:fs"
import { assertAccessible } from "./axe.ts"
import { type BrowserPage, openPage } from "./Chromium.ts"
import { signedInAs } from "./consolePeople.ts"
import { makeAccount, Service } from "./Service.ts"

/** Pictures for people who look at the pages: `CONSOLE_PICTURES` names their folder. */
const pictures = process.env["CONSOLE_PICTURES"]

/** The page has no fault for a program that reads it, and is drawn for a person who looks at it. */
export const look = Effect.fnUntraced(function*(page: BrowserPage, name: string) {
  yield* assertAccessible(page)
  if (pictures === undefined) return
  for (const [width, scheme] of [[1280, "light"], [360, "dark"], [360, "light"], [1280, "dark"]] as const) {
    yield* page.command("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] })
    yield* page.command("Emulation.setDeviceMetricsOverride", {
      width,
      height: 800,
      deviceScaleFactor: 1,
      mobile: false
    })
    const shot = yield* page.command("Page.captureScreenshot", { format: "png", captureBeyondViewport: true })
    const { data } = shot as { readonly data: string }
    NodeFs.writeFileSync(`${pictures}/${name}-${width}-${scheme}.png`, Buffer.from(data, "base64"))
  }
})

/** A browser in which an owner of a new account is signed in. */
export const visitor = Effect.gen(function*() {
  const node = yield* Service
  const { accountId, key, keyId } = yield* makeAccount()
  const { token } = yield* signedInAs(accountId, "owner")
  const page = yield* openPage
  const origin = node.baseUrl.replace("127.0.0.1", "localhost")
  yield* page.command("Network.enable")
  yield* page.command("Network.setCookie", { name: "console", value: token, url: origin, httpOnly: true })
  return { accountId, key, keyId, node, page, origin, at: `${origin}/console/${accountId}` }
})

/** Whether the page has this title, and its scripts, which take keys, have run. */
export const titled = (title: string): string =>
  `document.readyState === "complete" && document.querySelector("h1")?.textContent === ${JSON.stringify(title)}`

/** Whether the page has this text. */
export const shows = (text: string): string =>
  `document.querySelector("main")?.textContent.includes(${JSON.stringify(text)}) === true`

/** Whether the page says this sentence about the form before. */
export const said = (sentence: string): string =>
  `document.querySelector("[role=status]")?.textContent === ${JSON.stringify(sentence)}`

/** A field of the page's form. */
export const fieldNamed = (name: string): string => `main form:not(.search) [name='${name}']`

/**
 * Gives a field a value, once the page has it. Like a person's, its focus keeps the page from loading itself again.
 */
export const type = (page: BrowserPage, name: string, text: string): Effect.Effect<unknown> => {
  const field = `document.querySelector(${JSON.stringify(fieldNamed(name))})`
  return Effect.andThen(
    page.until(`${field} !== null`),
    page.evaluate(`${field}.focus(), ${field}.value = ${JSON.stringify(text)}`)
  )
}

/** The button of the page's form. */
export const submit = "main form.form .buttons button"

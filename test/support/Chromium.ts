/** A headless Chromium, driven over its debugging protocol. Debian's package is enough; tests are skipped without it. */
import { Effect, Schema, type Scope } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import * as NodeReadline from "node:readline"
import { WebSocket } from "ws"
import { programAt } from "./programs.ts"
import { eventually } from "./Service.ts"
import { longer } from "./waiting.ts"

/** Debian's package for browsers without windows. A kill of the script with this name in PATH would leave its browser running. */
const headlessShell = "/usr/lib/chromium/chromium-headless-shell"

/** The browser's path; undefined if none is installed. The headless shell needs less processor time. */
export const chromium = NodeFs.existsSync(headlessShell)
  ? headlessShell
  : programAt("chromium") ?? programAt("google-chrome")

const flags = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // As wide as a desktop window, where the navigation is open.
  "--window-size=1280,800",
  "--remote-debugging-port=0"
]

const Reply = Schema.fromJsonString(Schema.Struct({
  id: Schema.optionalKey(Schema.Int),
  result: Schema.optionalKey(Schema.Unknown),
  error: Schema.optionalKey(Schema.Struct({ message: Schema.String }))
}))

const Evaluated = Schema.Struct({
  result: Schema.Struct({ value: Schema.optionalKey(Schema.Unknown) }),
  exceptionDetails: Schema.optionalKey(Schema.Unknown)
})

type Command = (method: string, parameters?: Readonly<Record<string, unknown>>) => Promise<unknown>

const connect = (url: string) =>
  new Promise<{ readonly command: Command; readonly close: () => void }>((resolve, reject) => {
    const socket = new WebSocket(url, { maxPayload: 64 * 1024 * 1024 })
    const waiting = new Map<number, { done: (result: unknown) => void; failed: (error: Error) => void }>()
    let last = 0
    socket.on("error", reject)
    socket.on("message", (data) => {
      const { error, id = 0, result } = Schema.decodeSync(Reply)(String(data))
      const call = waiting.get(id)
      waiting.delete(id)
      if (error === undefined) call?.done(result)
      else call?.failed(new Error(error.message))
    })
    socket.on("open", () => {
      const command: Command = (method, params = {}) =>
        new Promise((done, failed) => {
          waiting.set(++last, { done, failed })
          socket.send(JSON.stringify({ id: last, method, params }))
        })
      resolve({ command, close: () => socket.close() })
    })
  })

/** A page of the browser. */
export interface BrowserPage {
  readonly command: (method: string, parameters?: Readonly<Record<string, unknown>>) => Effect.Effect<unknown>
  /** The value of an expression in the page. */
  readonly evaluate: (expression: string) => Effect.Effect<unknown>
  /** Loads an address and waits for its load event. */
  readonly open: (url: string) => Effect.Effect<void>
  /** Waits until an expression is true, also across a navigation. */
  readonly until: (expression: string, within?: `${number} seconds`) => Effect.Effect<void>
  /**
   * Clicks the first element that the selector finds, once the page is loaded and a person sees it: nothing hides or covers
   * it.
   */
  readonly click: (selector: string) => Effect.Effect<void>
}

const launch = Effect.acquireRelease(
  Effect.promise(async () => {
    const profile = NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "chromium-"))
    const child = NodeChildProcess.spawn(chromium ?? "chromium", [
      ...flags,
      `--user-data-dir=${profile}`,
      "about:blank"
    ], {
      stdio: ["ignore", "ignore", "pipe"]
    })
    const ended = new Promise<void>((resolve) => child.once("close", () => resolve()))
    for await (const line of NodeReadline.createInterface({ input: child.stderr })) {
      const [, origin] = /DevTools listening on ws:\/\/([^/]+)/.exec(line) ?? []
      if (origin !== undefined) return { child, ended, origin, profile }
    }
    throw new Error("Chromium ended before it listened")
  }),
  ({ child, ended, profile }) =>
    Effect.promise(async () => {
      child.kill("SIGKILL")
      await ended
      NodeFs.rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
    })
)

const Targets = Schema.Array(Schema.Struct({ type: Schema.String, webSocketDebuggerUrl: Schema.String }))

const pageTarget = async (origin: string) => {
  const answer = await fetch(`http://${origin}/json/list`)
  return Schema.decodeUnknownSync(Targets)(await answer.json()).find(({ type }) => type === "page")
}

const isLoaded = `document.readyState === "complete"`

/** The first element that the selector finds, if a person who scrolls to it sees it; null otherwise. */
const seen = (selector: string) =>
  `((found) => {
    if (found?.checkVisibility({ opacityProperty: true, visibilityProperty: true }) !== true) return null
    found.scrollIntoView({ block: "center" })
    const [{ height, width, x, y }] = found.getClientRects()
    return found.contains(document.elementFromPoint(x + width / 2, y + height / 2)) ? found : null
  })(document.querySelector(${JSON.stringify(selector)}))`

/** True when the expression is, on a whole page, and otherwise what the page shows, for the failure of a wait. */
const trueOrSeen = (expression: string) =>
  `Promise.resolve(document.readyState !== "loading" && (${expression})).then((value) => value === true || {
    expected: ${JSON.stringify(expression)},
    address: location.href,
    title: document.title,
    shows: (document.querySelector("main") ?? document.body)?.textContent.replaceAll(/\\s+/g, " ").slice(0, 1_500)
  })`

/** A browser with one page. It ends with the scope. */
export const openPage: Effect.Effect<BrowserPage, never, Scope.Scope> = Effect.gen(function*() {
  const { origin } = yield* launch
  const target = yield* eventually(
    Effect.promise(() => pageTarget(origin)),
    (found) => found !== undefined,
    longer.start
  )
  const { command } = yield* Effect.acquireRelease(
    Effect.promise(() => connect(target?.webSocketDebuggerUrl ?? "")),
    ({ close }) => Effect.sync(close)
  )
  const run: BrowserPage["command"] = (method, parameters) => Effect.promise(() => command(method, parameters))
  const evaluate: BrowserPage["evaluate"] = (expression) =>
    Effect.map(
      run("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true }),
      (reply) => {
        const { exceptionDetails, result } = Schema.decodeUnknownSync(Evaluated)(reply)
        if (exceptionDetails !== undefined) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`)
        return result.value
      }
    )
  // A navigation destroys the page in which an expression runs.
  const now = (expression: string) => Effect.catchCause(evaluate(expression), () => Effect.void)
  const until: BrowserPage["until"] = (expression, within) =>
    Effect.asVoid(eventually(now(trueOrSeen(expression)), (value) => value === true, within))
  yield* run("Page.enable")
  return {
    command: run,
    evaluate,
    until,
    open: (url) =>
      run("Page.navigate", { url }).pipe(
        Effect.andThen(until(`location.href !== "about:blank" && ${isLoaded}`, longer.start))
      ),
    click: (selector) =>
      Effect.asVoid(eventually(
        Effect.andThen(
          // Before that, the page's scripts may not listen to clicks.
          until(`${isLoaded} && ${seen(selector)} !== null`, longer.start),
          // The page may have changed since then.
          evaluate(`((found) => found !== null && (found.click(), true))(${seen(selector)})`)
        ),
        (clicked) => clicked === true,
        longer.start
      ))
  }
})

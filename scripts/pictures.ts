/**
 * Makes the pictures of the README: `npm run pictures`. It starts a temporary service, sets up the console as a person does,
 * sends messages of each kind, and photographs two pages in Chromium.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer, Redacted, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import * as NodeFs from "node:fs"
import { type BrowserPage, openPage } from "../test/support/Chromium.ts"
import { type Target, temporaryService } from "./demo/temporaryService.ts"

const directory = new URL("../docs/pictures/", import.meta.url)
const size = { width: 1280, height: 800, deviceScaleFactor: 1, mobile: false }

const person: Readonly<Record<string, string>> = {
  name: "Ada Lovelace",
  email: "ada@example.com",
  password: "correct horse battery staple"
}

const letter = (to: string, subject: string) => ["/v1/email/send", { to, subject, text: `${subject}.` }] as const

const sends: ReadonlyArray<readonly [path: string, body: unknown]> = [
  ["/v1/webhooks", { url: "http://127.0.0.1:59999/events", events: ["*"] }],
  ["/v1/email/send-bulk", {
    subject: "{{name}}, your seat is reserved",
    html: "<p>Dear {{name}}, welcome.</p>",
    recipients: Array.from({ length: 40 }, (_, i) => ({
      to: `guest${i}@example.com`,
      variables: { name: `Guest ${i}` }
    }))
  }],
  ...["Grace", "Edsger", "Barbara"].map((name) => letter(`${name.toLowerCase()}@example.com`, `Your receipt, ${name}`)),
  ["/v1/sms/send", { to: "+250788123456", content: "Your order is ready." }],
  ["/v1/sms/send", { to: "+15005550001", content: "Your order is ready." }],
  ["/v1/verify/send", { to: "+250788123457" }],
  letter("bounce@example.com", "Your receipt, Alan")
]

const sendAll = Effect.fnUntraced(function*({ apiKey, baseUrl }: Target) {
  const client = yield* HttpClient.HttpClient
  for (const [path, body] of sends) {
    yield* HttpClientRequest.post(`${baseUrl}${path}`).pipe(
      HttpClientRequest.bearerToken(apiKey),
      HttpClientRequest.bodyJsonUnsafe(body),
      HttpClient.filterStatusOk(client).execute
    )
  }
})

const Screenshot = Schema.Struct({ data: Schema.String })

const photograph = Effect.fnUntraced(function*(page: BrowserPage, name: string) {
  const shot = yield* page.command("Page.captureScreenshot", { format: "png" })
  const { data } = yield* Schema.decodeUnknownEffect(Screenshot)(shot)
  NodeFs.mkdirSync(directory, { recursive: true })
  NodeFs.writeFileSync(new URL(name, directory), Buffer.from(data, "base64"))
  yield* Console.log(`docs/pictures/${name}`)
})

const pictures = Effect.gen(function*() {
  const service = yield* temporaryService
  const page = yield* openPage
  yield* page.command("Emulation.setDeviceMetricsOverride", size)
  yield* page.command("Emulation.setScrollbarsHidden", { hidden: true })
  yield* page.open(Redacted.value(service.setupLink))
  for (const [name, text] of Object.entries(person)) {
    yield* page.evaluate(`document.querySelector("main [name=${name}]").value = ${JSON.stringify(text)}`)
  }
  yield* page.click("main form button")
  yield* page.until(`location.pathname.endsWith("/1/")`)
  yield* sendAll(service)
  const list =
    `fetch("/console/1/messages?status=bounced").then((answer) => answer.text()).then((text) => text.includes("Alan"))`
  yield* page.until(list)
  yield* page.open(`${yield* page.evaluate("location.origin")}/console/1/messages?status=bounced`)
  yield* page.click("main .list tbody a")
  yield* page.until(`document.querySelector(".timeline") !== null`)
  yield* photograph(page, "message.png")
  yield* page.open(`${yield* page.evaluate("location.origin")}/console/1/`)
  yield* page.until(`document.querySelector("main svg") !== null`)
  yield* photograph(page, "overview.png")
})

const Live = Layer.mergeAll(NodeServices.layer, NodeHttpClient.layerUndici)

NodeRuntime.runMain(Effect.scoped(Effect.provide(pictures, Live)))

/** The built npm package in Bun, Deno and workerd, the runtime of Cloudflare's Workers. Their programs come from npm. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import { buildNpmPackage, bundle, entryIn } from "../../scripts/sdk/npmPackage.ts"
import { freePort } from "../support/freePort.ts"
import { runProgram, temporaryFolder } from "../support/sdkPackage.ts"
import { eventually, makeAccount, Service } from "../support/Service.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"

const place = NodePath.join(import.meta.dirname, "runtimes")

const programs = {
  bun: "@oven/bun-linux-x64/bin/bun",
  deno: "@deno/linux-x64-glibc/deno",
  workerd: "@cloudflare/workerd-linux-64/bin/workerd"
}

const program = (name: keyof typeof programs) => NodePath.join(place, "node_modules", programs[name])

/** The packages are those for this system. */
const canRun = process.platform === "linux" && process.arch === "x64"

/** Sends, reads a list page by page, and verifies an event and a forged one. */
const module = `
import { MessagingClient, webhooks } from "./client.js"
export const run = async ({ apiKey, baseUrl, delivery: { body, headers, secret } }) => {
  const client = new MessagingClient({ apiKey, baseUrl })
  for (const subject of ["One", "Two"]) await client.email.send({ to: "ada@example.com", subject, text: "Hello" })
  const subjects = []
  for await (const { subject } of client.email.list({ per_page: 1 })) subjects.push(subject)
  const { event } = await webhooks.verify(body, headers, secret)
  const forged = await webhooks.verify(body + " ", headers, secret).then(() => "accepted", (error) => error.name)
  const missing = await client.webhooks.get(999999999).then(() => "found", (error) => error.name)
  return JSON.stringify({ subjects, event, forged, missing })
}`

const main = `
import { run } from "./module.js"
import input from "./input.json" with { type: "json" }
console.log(await run(input))`

const worker = `
import { run } from "module.js"
export default {
  async fetch(request) {
    return new Response(await run(await request.json()))
  }
}`

const workerConfig = (port: number) => `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "internet", network = (allow = ["private", "public"]))
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
);
const worker :Workerd.Worker = (
  modules = [
    (name = "worker.js", esModule = embed "worker.js"),
    (name = "module.js", esModule = embed "module.js"),
    (name = "client.js", esModule = embed "client.js")
  ],
  compatibilityDate = "2026-01-01"
);`

/** A folder with the client in one file and the programs that use it. */
class Programs extends Context.Service<Programs, string>()("messaging-service/test/sdk/runtimes.test/Programs") {
  static readonly layer = Layer.effect(
    Programs,
    Effect.gen(function*() {
      const npm = yield* runProgram("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: place })
      assert.strictEqual(npm.code, 0, npm.output)
      const folder = yield* temporaryFolder
      yield* Effect.sync(() => buildNpmPackage(folder))
      const client = yield* Effect.promise(() => bundle(entryIn(folder)))
      const files = { "client.js": client, "module.js": module, "main.js": main, "worker.js": worker }
      for (const [name, text] of Object.entries(files)) NodeFs.writeFileSync(NodePath.join(folder, name), text)
      NodeFs.writeFileSync(NodePath.join(folder, "package.json"), `{"type":"module"}`)
      return folder
    })
  )
}

/** What a program gets: an account's key, and a webhook delivery of the service. */
const makeInput = Effect.gen(function*() {
  const node = yield* Service
  const { key } = yield* makeAccount()
  const receiver = yield* makeWebhookReceiver()
  const webhook = yield* node.request("POST", "/v1/webhooks", {
    key,
    json: { url: receiver.url, events: ["email.sent"] }
  })
  const path = `/v1/webhooks/${String(webhook.at("data", "id"))}/test`
  yield* node.request("POST", path, { key, json: { event: "email.sent" } })
  const [request] = yield* receiver.received(1)
  const delivery = { body: String(request?.body), headers: request?.headers, secret: webhook.at("data", "secret") }
  return { apiKey: key, baseUrl: node.baseUrl, delivery }
})

const expected = {
  subjects: ["Two", "One"],
  event: "email.sent",
  forged: "WebhookVerificationError",
  missing: "ApiError not_found"
}

layer(Layer.mergeAll(Programs.layer, Service.layer()), { excludeTestServices: true })(
  "the TypeScript SDK",
  (it) => {
    const words = { bun: ["main.js"], deno: ["run", "--no-lock", "--allow-net", "main.js"] }
    for (const name of ["bun", "deno"] as const) {
      it.effect.skipIf(!canRun)(`sends, lists and verifies in ${name}`, () =>
        Effect.gen(function*() {
          const folder = yield* Programs
          NodeFs.writeFileSync(NodePath.join(folder, "input.json"), JSON.stringify(yield* makeInput))
          const { code, output } = yield* runProgram(program(name), words[name], { cwd: folder })
          assert.strictEqual(code, 0, output)
          assert.deepStrictEqual(JSON.parse(output), expected)
        }))
    }

    it.effect.skipIf(!canRun)("sends, lists and verifies in a Worker", () =>
      Effect.gen(function*() {
        const folder = yield* Programs
        const port = yield* freePort
        NodeFs.writeFileSync(NodePath.join(folder, "config.capnp"), workerConfig(port))
        yield* Effect.acquireRelease(
          Effect.sync(() =>
            NodeChildProcess.spawn(program("workerd"), ["serve", "config.capnp"], { cwd: folder, stdio: "inherit" })
          ),
          (child) => Effect.sync(() => child.kill("SIGKILL"))
        )
        const input = JSON.stringify(yield* makeInput)
        const ask = Effect.promise(() =>
          fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: input }).then((answer) => answer.text(), () => "")
        )
        const answer = yield* eventually(ask, (text) => text !== "", longer.start)
        assert.deepStrictEqual(JSON.parse(answer), expected)
      }))
  }
)

/** The built npm package, as a program that installs it sees it. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import * as NodeFs from "node:fs"
import * as NodeHttp from "node:http"
import * as NodePath from "node:path"
import { publint } from "publint"
import { buildNpmPackage, bundle, entryIn } from "../../scripts/sdk/npmPackage.ts"
import { root } from "../../scripts/sdk/sources.ts"
import { chromium, openPage } from "../support/Chromium.ts"
import { freePort } from "../support/freePort.ts"
import { fencesOf, runProgram, temporaryFolder, tool } from "../support/sdkPackage.ts"
import { eventually, makeAccount, Service } from "../support/Service.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"

/** The built package: a folder, its archive, and a project that has it installed. */
class Built
  extends Context.Service<Built, { readonly archive: string; readonly folder: string; readonly project: string }>()(
    "messaging-service/test/sdk/npmPackage.test/Built"
  )
{
  static readonly layer = Layer.effect(
    Built,
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const archive = yield* Effect.sync(() => buildNpmPackage(folder))
      const project = NodePath.join(folder, "project")
      NodeFs.mkdirSync(project)
      NodeFs.writeFileSync(NodePath.join(project, "package.json"), JSON.stringify({ type: "module", private: true }))
      const npm = yield* runProgram("npm", ["install", "--offline", "--no-audit", "--no-fund", archive], {
        cwd: project
      })
      assert.strictEqual(npm.code, 0, npm.output)
      return { archive, folder, project }
    })
  )
}

const page = "docs/sdk/typescript.md"
const examples = fencesOf(page, "ts").map((fence, index) => ({ ...fence, file: `example${index}.ts` }))

/** The strictest options that a program may have. Declarations of packages are checked too. */
const strict = {
  target: "es2022",
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  isolatedModules: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false
}

const consumers = {
  "Node, with its types and without those of browsers": {
    module: "nodenext",
    lib: ["es2023"],
    types: ["node"],
    typeRoots: [NodePath.join(root, "node_modules/@types")]
  },
  "a bundler, with the types of browsers and without those of Node": {
    module: "esnext",
    moduleResolution: "bundler",
    lib: ["es2023", "dom", "dom.iterable"],
    types: []
  }
}

const browserProgram = `
import { ApiError, MessagingClient, type NewEmail, type WebhookEvent, webhooks } from "messaging-service-sdk"
const client = new MessagingClient({ baseUrl: "/messaging", apiKey: undefined })
const mail: NewEmail = { to: ["ada@example.com"], subject: "Hello", variables: { name: "Ada", user: { id: 1 } } }
export const sent: number = (await client.email.send(mail)).id
export const subjects: Array<string> = []
for await (const { subject } of client.email.list({ per_page: 10, status: undefined })) subjects.push(subject)
export const nameOf = (event: WebhookEvent) => event.event === "message.received" ? event.data.content.body : event.event
export const verified = (body: string, headers: Headers) => webhooks.verify(body, headers, ["whsec_a", "whsec_b"])
export const isOurs = (error: unknown): error is ApiError => error instanceof ApiError
const to = "+250788123456"
await client.whatsapp.send({ session_id: 1, to, content: "Hello" })
await client.whatsapp.send({ session_id: 1, to, type: "poll", content: { question: "Lunch?", options: ["yes", "no"] } })
// @ts-expect-error -- a poll has options
await client.whatsapp.send({ session_id: 1, to, type: "poll", content: { question: "Lunch?" } })
// @ts-expect-error -- content without a type is a text
await client.whatsapp.send({ session_id: 1, to, content: { latitude: 1, longitude: 2 } })
// @ts-expect-error -- a mail has a recipient
await client.email.send({ subject: "Hello" })
// @ts-expect-error -- this status does not exist
client.email.list({ status: "lost" })
// @ts-expect-error -- this method does not exist
await client.email.sendAll([])
`

const typeCheck = Effect.fnUntraced(function*(project: string, compilerOptions: object, files: ReadonlyArray<string>) {
  const config = NodePath.join(project, "tsconfig.json")
  NodeFs.writeFileSync(config, JSON.stringify({ compilerOptions: { ...strict, ...compilerOptions }, files }))
  return yield* runProgram(tool("tsc"), ["-p", config])
})

/** The oldest and the newest Node that the package supports: the machine's own, and that of these tests. */
const nodes = [
  { major: 20, path: ["/usr/bin/node", "/usr/local/bin/node"].find((path) => NodeFs.existsSync(path)) },
  { major: 24, path: process.execPath }
]

/** A site with one page, the client, and a path that calls the node with the key, as a server of an application does. */
const makeSite = (client: string, target: { readonly baseUrl: string; readonly key: string }) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<NodeHttp.Server>((resume) => {
        const server = NodeHttp.createServer((incoming, response) => {
          const path = incoming.url ?? "/"
          if (path === "/client.js") {
            return void response.writeHead(200, { "content-type": "text/javascript" }).end(client)
          }
          if (!path.startsWith("/messaging/")) {
            return void response.writeHead(200, { "content-type": "text/html" }).end(
              "<!doctype html><title>Shop</title>"
            )
          }
          const headers = { ...incoming.headers, authorization: `Bearer ${target.key}` }
          const { method } = incoming
          const call = NodeHttp.request(`${target.baseUrl}${path.slice("/messaging".length)}`, { method, headers })
          call.on("response", (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers)))
          incoming.pipe(call)
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.sync(() => void server.close().closeAllConnections())
    ),
    (server) => {
      const address = server.address()
      return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
    }
  )

describe("examples of the TypeScript SDK", () => {
  it("the page has one for each task", () => {
    assert.isAtLeast(examples.length, 5)
  })
})

layer(Layer.mergeAll(Built.layer, Service.layer()), { excludeTestServices: true })(
  "the npm package of the SDK",
  (it) => {
    it.effect("contains compiled files, declarations, README and licence, and nothing of Effect or Node", () =>
      Effect.gen(function*() {
        const { project } = yield* Built
        const installed = NodePath.join(project, "node_modules/messaging-service-sdk")
        const files = NodeFs.readdirSync(installed, { recursive: true, encoding: "utf8" })
        assert.includeMembers(files, ["LICENSE", "README.md", "dist/MessagingClient.js", "dist/MessagingClient.d.ts"])
        for (const file of files.filter((file) => /\.(js|ts)$/.test(file))) {
          const text = NodeFs.readFileSync(NodePath.join(installed, file), "utf8")
          const foreign = [...text.matchAll(/(?:from|import\()\s*"(?!\.)([^"]+)"/g)].map(([, name]) => name)
          assert.deepStrictEqual(foreign, [], file)
          assert.notMatch(text, /\.ts"|\bEffect\b|NodeJS|Buffer</, file)
        }
        const readme = NodeFs.readFileSync(NodePath.join(installed, "README.md"), "utf8")
        assert.notMatch(readme, /\]\((?!https?:)/)
      }))

    it.effect("publint and attw find nothing wrong with it", () =>
      Effect.gen(function*() {
        const { archive, folder } = yield* Built
        const { messages } = yield* Effect.promise(() =>
          publint({ pkgDir: NodePath.join(folder, "npm"), strict: true, pack: "npm" })
        )
        assert.deepStrictEqual(messages, [])
        const attw = yield* runProgram(tool("attw"), [archive, "--profile", "esm-only"])
        assert.strictEqual(attw.code, 0, attw.output)
      }))

    it.effect("is at most 25 kB for browsers", () =>
      Effect.gen(function*() {
        const { folder } = yield* Built
        const code = yield* Effect.promise(() => bundle(entryIn(folder)))
        assert.isAtMost(Buffer.byteLength(code), 25_000)
        assert.notMatch(code, /\bfrom\s*"/)
      }))

    for (const [name, options] of Object.entries(consumers)) {
      it.effect(`its types suit ${name}, under strict settings`, () =>
        Effect.gen(function*() {
          const { project } = yield* Built
          NodeFs.writeFileSync(NodePath.join(project, "program.ts"), browserProgram)
          for (const { code, file } of examples) NodeFs.writeFileSync(NodePath.join(project, file), code)
          const suited = examples.filter(({ what }) => what === "" || "typeRoots" in options).map(({ file }) => file)
          const { code, output } = yield* typeCheck(project, { ...options, noEmit: true }, ["program.ts", ...suited])
          assert.strictEqual(code, 0, output)
        }))
    }

    for (const { major, path = "" } of nodes) {
      it.effect.skipIf(path === "")(
        `the examples of its page run on Node ${major}`,
        () =>
          Effect.gen(function*() {
            const version = yield* runProgram(path, ["--version"])
            assert.match(version.output, new RegExp(`^v${major}\\.`))
            const node = yield* Service
            const { project } = yield* Built
            const { key } = yield* makeAccount()
            const built = NodePath.join(project, "built")
            for (const { code, file } of examples) NodeFs.writeFileSync(NodePath.join(project, file), code)
            const { output } = yield* typeCheck(
              project,
              { ...consumers["Node, with its types and without those of browsers"], outDir: built },
              examples.map(({ file }) => file)
            )
            assert.strictEqual(output, "")
            for (const { file, what } of examples) {
              if (what !== "") continue
              const ended = yield* runProgram(path, [NodePath.join(built, file.replace(".ts", ".js"))], {
                env: { MESSAGING_URL: node.baseUrl, MESSAGING_API_KEY: key }
              })
              assert.strictEqual(ended.code, 0, `${file}: ${ended.output}`)
            }
          })
      )
    }

    it.effect(
      "the receiver of its page accepts an event of the service and nothing else",
      () =>
        Effect.gen(function*() {
          const node = yield* Service
          const { project } = yield* Built
          const { key } = yield* makeAccount()
          const port = yield* freePort
          const url = `http://127.0.0.1:${port}/`
          const webhook = yield* node.request("POST", "/v1/webhooks", { key, json: { url, events: ["*"] } })
          const file = examples.find(({ what }) => what === "receiver")?.file ?? ""
          NodeFs.writeFileSync(NodePath.join(project, file), examples.find((each) => each.file === file)?.code ?? "")
          yield* Effect.forkScoped(runProgram(process.execPath, [NodePath.join(project, file)], {
            env: { PORT: `${port}`, WEBHOOK_SECRET: String(webhook.at("data", "secret")) }
          }))
          const post = Effect.promise(() =>
            fetch(url, { method: "POST", body: "{}" }).then(({ status }) => status, () => 0)
          )
          yield* eventually(post, (status) => status === 400, longer.start)
          const tested = yield* node.request("POST", `/v1/webhooks/${webhook.at("data", "id")}/test`, {
            key,
            json: { event: "email.bounced" }
          })
          assert.strictEqual(tested.at("data", "response_code"), 204)
        })
    )

    it.effect.skipIf(chromium === undefined)(
      "sends a mail and verifies its event in Chromium",
      () =>
        Effect.gen(function*() {
          const node = yield* Service
          const { folder } = yield* Built
          const { key } = yield* makeAccount()
          const receiver = yield* makeWebhookReceiver()
          const webhook = yield* node.request("POST", "/v1/webhooks", {
            key,
            json: { url: receiver.url, events: ["email.sent"] }
          })
          const client = yield* Effect.promise(() => bundle(entryIn(folder)))
          const site = yield* makeSite(client, { baseUrl: node.baseUrl, key })
          const page = yield* openPage
          yield* page.open(site)
          const id = yield* page.evaluate(`(async () => {
          const { MessagingClient } = await import("/client.js")
          window.client = new MessagingClient({ baseUrl: location.origin + "/messaging" })
          const { id } = await client.email.send({ to: "ada@example.com", subject: "From a page", text: "Hello" })
          return id
        })()`)
          assert.isNumber(id)
          const [request] = yield* receiver.received(1)
          const verify = (secret: unknown) =>
            page.evaluate(
              `client.webhooks.verify(${JSON.stringify(request?.body.toString("utf8"))}, ${
                JSON.stringify(request?.headers)
              }, ${JSON.stringify(secret)}).then(({ data }) => data.id, ({ reason }) => reason)`
            )
          assert.strictEqual(yield* verify(webhook.at("data", "secret")), id)
          assert.strictEqual(yield* verify("whsec_AAAA"), "signature_mismatch")
          const listed = yield* page.evaluate(
            `(async () => { const ids = []; for await (const mail of client.email.list()) ids.push(mail.id); return ids })()`
          )
          assert.deepStrictEqual(listed, [id])
        })
    )
  }
)

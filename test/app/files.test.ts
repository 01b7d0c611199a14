import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { eventually, startNode } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => {
    const path = NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "files-"))
    // As root, the embedded server's account must be able to enter it.
    NodeFs.chmodSync(path, 0o711)
    return path
  }),
  (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
)

const mode = (path: string) => (NodeFs.statSync(path).mode & 0o777).toString(8)

layer(TestDatabase.layer, { excludeTestServices: true })("files of a node", (it) => {
  it.effect("a node keeps temporary files in a private directory, and removes those of killed nodes", () =>
    Effect.gen(function*() {
      const TMPDIR = yield* folder
      const ours = () => NodeFs.readdirSync(TMPDIR)
      const killed = yield* startNode({ env: { TMPDIR } })
      const [left = ""] = ours()
      assert.match(left, new RegExp(`^messaging-${killed.pid}-`))
      assert.strictEqual(mode(NodePath.join(TMPDIR, left)), "700")
      NodeFs.writeFileSync(NodePath.join(TMPDIR, left, "upload-enc"), "x")
      yield* killed.kill
      const next = yield* startNode({ env: { TMPDIR } })
      // Nothing else is there, such as compiled code.
      assert.deepStrictEqual(ours().map((name) => name.replace(/\w+$/, "")), [`messaging-${next.pid}-`])
      const beside = yield* startNode({ env: { TMPDIR } })
      assert.strictEqual(ours().length, 2)
      yield* beside.stop()
      yield* next.stop()
      assert.deepStrictEqual(ours(), [])
    }))

  it.effect("a node on a new DATA_DIR creates files for its account only, and the embedded server can reach its own", () =>
    Effect.gen(function*() {
      const DATA_DIR = NodePath.join(yield* folder, "new", "data")
      const env = { DATABASE_URL: undefined, ENCRYPTION_KEY: undefined, DATA_DIR }
      const node = yield* startNode({ env })
      assert.strictEqual(mode(NodePath.join(DATA_DIR, "db")), "700")
      assert.strictEqual(mode(NodePath.join(DATA_DIR, "encryption.key")), "600")
      if (NodeFs.existsSync("/proc/self/status")) {
        assert.match(NodeFs.readFileSync(`/proc/${node.pid}/status`, "utf8"), /^Umask:\t0077$/m)
      }
      yield* node.stop()
      const pid = NodePath.join(DATA_DIR, "db/pg18/postmaster.pid")
      yield* eventually(Effect.sync(() => NodeFs.existsSync(pid)), (runs) => !runs, longer.start)
    }))
})

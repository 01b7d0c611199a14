import { assert, it } from "@effect/vitest"
import { Option } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import * as NodeUrl from "node:url"
import { barrier } from "../../src/platform/database/embedded/EmbeddedAccount.ts"

const main = NodeUrl.fileURLToPath(new URL("../../src/main.ts", import.meta.url))

const unprivileged = { uid: 65_534, gid: 65_534, switched: true }

/** Undefined where the tests do not run as root, or other users cannot read the program. */
const user = process.getuid?.() === 0 && Option.isNone(barrier(main, unprivileged)) ? unprivileged : undefined

it("the service creates its embedded database as a user without rights", () => {
  const home = NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "ordinary-"))
  if (user !== undefined) NodeFs.chownSync(home, user.uid, user.gid)
  const { status, stderr } = NodeChildProcess.spawnSync(process.execPath, [main, "migrate"], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: home, DATA_DIR: NodePath.join(home, "data") },
    ...user
  })
  const owner = NodeFs.statSync(NodePath.join(home, "data/db/pg18"), { throwIfNoEntry: false })?.uid
  NodeFs.rmSync(home, { recursive: true, force: true })
  assert.strictEqual(status, 0, stderr)
  // Root's server runs as another user.
  assert.notStrictEqual(owner, 0)
  if (user !== undefined) assert.strictEqual(owner, user.uid)
})

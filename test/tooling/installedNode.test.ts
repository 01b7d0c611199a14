import { assert, describe, it } from "@effect/vitest"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import * as NodeProcess from "node:process"
import { root } from "./plant.ts"

describe("commands of the README", () => {
  it("run on the installed Node 24, whatever Node runs npm", () => {
    // The user's Node says that it is Node 20, and runs npm.
    const own = NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "node-20-"))
    NodeFs.writeFileSync(
      NodePath.join(own, "node"),
      `#!/bin/sh\n[ "$1" = --version ] && exec echo v20.0.0\nexec "${NodeProcess.execPath}" "$@"\n`,
      { mode: 0o755 }
    )
    // A shell of the user does not have the folder that npm adds for its scripts.
    const path = (NodeProcess.env["PATH"] ?? "").split(":").filter((folder) => !folder.includes("node_modules"))
    const run = (command: string, words: ReadonlyArray<string>) =>
      NodeChildProcess.spawnSync(command, words, {
        cwd: root,
        encoding: "utf8",
        env: { PATH: [own, ...path].join(":"), HOME: NodeProcess.env["HOME"] }
      })
    const [user, program] = [run("node", ["--version"]), run("npm", ["exec", "--offline", "-c", "node --version"])]
    NodeFs.rmSync(own, { recursive: true })
    assert.strictEqual(user.stdout, "v20.0.0\n")
    assert.match(program.stdout, /^v24\./, program.stderr)
  })
})

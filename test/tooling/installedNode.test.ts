import { assert, describe, it } from "@effect/vitest"
import * as NodeChildProcess from "node:child_process"
import * as NodeProcess from "node:process"
import { root } from "./plant.ts"

describe("commands of the README", () => {
  it("run on the installed Node 24, whatever Node runs npm", () => {
    // A shell of the user does not have the folder that npm adds for its scripts.
    const path = (NodeProcess.env["PATH"] ?? "").split(":").filter((folder) => !folder.includes("node_modules"))
    const { error, stdout } = NodeChildProcess.spawnSync("npm", ["exec", "--offline", "-c", "node --version"], {
      cwd: root,
      encoding: "utf8",
      env: { PATH: path.join(":"), HOME: NodeProcess.env["HOME"] }
    })
    assert.isUndefined(error)
    assert.match(stdout, /^v24\./)
  })
})

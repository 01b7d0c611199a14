import * as NodeFs from "node:fs"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** It waits for real time without using the processors, so it starts first and other files run beside it. */
const waiting = "test/faults/retries.test.ts"

/** These bound real time, so they run after all others, one after the other. */
const timed = NodeFs.globSync("test/**/*.test.ts").filter((path) =>
  NodeFs.readFileSync(path, "utf8").includes("inTime(")
)

/** The limit of a whole test. `.ci/run` doubles it, because the machines of others may be slow. */
const timeout = process.env["SLOW_MACHINE"] === "true" ? 600_000 : 300_000

class WaitingFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    const rank = ({ moduleId }: TestSpecification) => moduleId.endsWith(waiting) ? 0 : 1
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: "shared", include: ["test/**/*.test.ts"], exclude: timed } },
      { extends: true, test: { name: "timed", include: timed, maxWorkers: 1, sequence: { groupOrder: 1 } } }
    ],
    globalSetup: "./test/support/globalSetup.ts",
    allowOnly: false,
    // Vitest sets MODE, which is a setting of the service. An empty one counts as unset.
    env: { MODE: "" },
    pool: "forks",
    // Much of what they wait for is time that passes, so there are more of them than cores.
    maxWorkers: 4,
    sequence: { sequencer: WaitingFirst },
    // Files share nothing but what they import, which is read once for each worker.
    isolate: false,
    testTimeout: timeout,
    hookTimeout: timeout
  }
})

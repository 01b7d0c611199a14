import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: "./test/support/globalSetup.ts",
    allowOnly: false,
    pool: "forks",
    // Much of what they wait for is time that passes, so there are more of them than cores.
    maxWorkers: 4,
    // Files share nothing but what they import, which is read once for each worker.
    isolate: false,
    testTimeout: 120_000,
    hookTimeout: 120_000
  }
})

import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { cli, sandboxed } from "../support/cli.ts"
import { makeDatabaseProxy } from "../support/DatabaseProxy.ts"
import { encryptionKey, eventually, startNode } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("start without a database", (it) => {
  it.effect("a node waits for a database that is not up yet, and logs it once", () =>
    Effect.gen(function*() {
      const proxy = yield* makeDatabaseProxy()
      yield* proxy.become("gone")
      const starting = yield* Effect.forkScoped(startNode({ env: { DATABASE_URL: proxy.url } }))
      yield* eventually(proxy.refused, (refused) => refused > 2, longer.start)
      yield* proxy.become("up")
      const node = yield* Fiber.join(starting)
      const said = node.logs.filter((line) => line.includes("PostgreSQL does not answer yet, retrying for 30 seconds"))
      assert.strictEqual(said.length, 1)
      assert.deepStrictEqual(yield* node.stop(), { code: 0, signal: null })
    }))

  it.effect("a node gives up after DATABASE_WAIT_SECONDS with one sentence that hides the password", () =>
    Effect.gen(function*() {
      for (const seconds of ["0", "1"]) {
        const { code, stderr } = yield* cli(["serve"], {
          ...sandboxed,
          DATABASE_URL: "postgres://user:geheim@127.0.0.1:1/x",
          DATABASE_WAIT_SECONDS: seconds,
          ENCRYPTION_KEY: encryptionKey,
          PORT: "0"
        })
        assert.strictEqual(code, 1)
        assert.match(
          stderr,
          /^PostgreSQL cannot be used: connect ECONNREFUSED 127\.0\.0\.1:1\. Check DATABASE_URL, or unset it/m
        )
        assert.strictEqual(stderr.includes("retrying"), seconds === "1")
        assert.notInclude(stderr, "geheim")
      }
    }))

  it.effect("a node does not wait for a database that refuses it", () =>
    Effect.gen(function*() {
      const { url } = yield* TestDatabase
      const missing = url.replace(/\/[a-z0-9_]+$/, "/nothing")
      const { code, stderr } = yield* cli(["serve"], {
        ...sandboxed,
        DATABASE_URL: missing,
        ENCRYPTION_KEY: encryptionKey,
        PORT: "0"
      })
      assert.strictEqual(code, 1)
      assert.include(stderr, "PostgreSQL cannot be used: database \"nothing\" does not exist.")
      assert.notInclude(stderr, "Trying again")
    }))
})

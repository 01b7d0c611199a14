import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { TestDatabase } from "../support/TestDatabase.ts"

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command line as its users do. */
const cli = (words: ReadonlyArray<string>, environment: Record<string, string> = {}) =>
  Effect.callback<Ended>((resume) => {
    execFile(
      process.execPath,
      [main, ...words],
      { env: { PATH: process.env["PATH"], ...environment } },
      (error, stdout, stderr) =>
        resume(Effect.succeed({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }))
    )
  })

const onDatabase = Effect.map(TestDatabase, ({ url }) => ({
  DATABASE_URL: url,
  ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64")
}))

describe("the command line", () => {
  it.live("stops with one sentence when a setting is wrong", () =>
    Effect.gen(function*() {
      const ended = yield* cli(["serve"], { PORT: "eighty" })
      assert.deepStrictEqual(ended, {
        code: 1,
        stdout: "",
        stderr: "PORT must be a whole number from 0 to 65535, but it is \"eighty\".\n"
      })
    }))

  it.live("stops with one sentence when the database cannot be reached, without its password", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* cli(["migrate"], { DATABASE_URL: "postgres://user:geheim@127.0.0.1:1/x" })
      assert.strictEqual(code, 1)
      assert.match(stderr, /^PostgreSQL cannot be used: connect ECONNREFUSED 127\.0\.0\.1:1\. Check DATABASE_URL/)
      assert.notInclude(stderr, "geheim")
    }))

  it.live("prints the settings in force with secrets masked", () =>
    Effect.gen(function*() {
      const { stdout } = yield* cli(["config"], { SMTP_URL: "smtp://u:geheim@relay", PORT: "9001" })
      assert.include(stdout, "PORT=9001\n")
      assert.include(stdout, "SMTP_URL=********\n")
      assert.notInclude(stdout, "geheim")
    }))

  it.live("makes accounts and keys, with --json as the one line on standard output", () =>
    Effect.gen(function*() {
      const environment = yield* onDatabase
      const made = yield* cli(
        ["account", "create", "--email", "ada@example.com", "--name", "Ada", "--plan", "growth", "--json"],
        environment
      )
      assert.match(made.stdout, /^\{"account_id":\d+,"api_key":"sk_live_[0-9A-Za-z]{38}"\}\n$/)
      const id = String(JSON.parse(made.stdout).account_id)
      const again = yield* cli(["account", "create", "--email", "ADA@example.com", "--name", "Ada"], environment)
      assert.strictEqual(again.code, 1)
      assert.include(again.stderr, "An account with this email address exists")
      assert.match((yield* cli(["account", "key", id], environment)).stdout, /^sk_live_/)
      assert.include((yield* cli(["account", "plan", id, "enterprise"], environment)).stdout, "on the enterprise plan")
      assert.include(
        (yield* cli(["account", "list"], environment)).stdout,
        `${id}\tenterprise\tactive\tada@example.com`
      )
      assert.include((yield* cli(["account", "key", "4711"], environment)).stderr, "There is no account 4711")
    }).pipe(Effect.provide(TestDatabase.layer)), 60_000)

  it.live("the doctor names what fails and ends with 1", () =>
    Effect.gen(function*() {
      const environment = { ...(yield* onDatabase), SMTP_URL: "smtp://127.0.0.1:1" }
      const { code, stdout } = yield* cli(["doctor"], environment)
      assert.strictEqual(code, 1)
      assert.match(stdout, /^ok {4}database: PostgreSQL/m)
      assert.match(stdout, /^FAIL {2}mail: .*ECONNREFUSED/m)
    }).pipe(Effect.provide(TestDatabase.layer)), 60_000)
})

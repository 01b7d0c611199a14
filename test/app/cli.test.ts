import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Passwords from "../../src/platform/crypto/Passwords.ts"
import { cli, sandboxed } from "../support/cli.ts"
import { makeDnsServer } from "../support/DnsServer.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const onDatabase = Effect.map(TestDatabase, ({ url }) => ({
  DATABASE_URL: url,
  ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64")
}))

describe("command line", () => {
  it.live("serve stops with one sentence when a setting is invalid", () =>
    Effect.gen(function*() {
      const ended = yield* cli(["serve"], { PORT: "eighty" })
      assert.deepStrictEqual(ended, {
        code: 1,
        stdout: "",
        stderr: "PORT must be a whole number from 0 to 65535, but it is \"eighty\".\n"
      })
    }))

  it.live(
    "serve stops with one sentence when BOUNCE_PORT has no domain or MAIL_BOUNCE_DOMAIN is invalid",
    () =>
      Effect.gen(function*() {
        const environment = { ...(yield* onDatabase), ...sandboxed }
        const relayed = { ...environment, SMTP_URL: "smtp://127.0.0.1:1" }
        const nowhere = yield* cli(["serve"], { ...relayed, BOUNCE_PORT: "0", PORT: "0" })
        assert.strictEqual(nowhere.code, 1)
        assert.include(
          nowhere.stderr,
          "MAIL_BOUNCE_DOMAIN must be the domain whose MX leads here, as BOUNCE_PORT is set"
        )
        const wrong = yield* cli(["serve"], { ...environment, MAIL_BOUNCE_DOMAIN: "10.0.0.1", PORT: "0" })
        assert.strictEqual(wrong.code, 1)
        assert.include(wrong.stderr, "MAIL_BOUNCE_DOMAIN must be a domain name, but it is \"10.0.0.1\"")
      }).pipe(Effect.provide(TestDatabase.layer)),
    120_000
  )

  it.live("migrate stops with one sentence that hides the password when the database is unreachable", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* cli(["migrate"], { DATABASE_URL: "postgres://user:geheim@127.0.0.1:1/x" })
      assert.strictEqual(code, 1)
      assert.match(stderr, /^PostgreSQL cannot be used: connect ECONNREFUSED 127\.0\.0\.1:1\. Check DATABASE_URL/)
      assert.notInclude(stderr, "geheim")
    }))

  it.live("config prints the settings in force with masked secrets", () =>
    Effect.gen(function*() {
      const { stdout } = yield* cli(["config"], { SMTP_URL: "smtp://u:geheim@relay", PORT: "9001" })
      assert.include(stdout, "PORT=9001\n")
      assert.include(stdout, "SMTP_URL=********\n")
      assert.notInclude(stdout, "geheim")
    }))

  it.live(
    "account commands create accounts and keys, and --json prints one line on standard output",
    () =>
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
        assert.include(
          (yield* cli(["account", "plan", id, "enterprise"], environment)).stdout,
          "on the enterprise plan"
        )
        assert.include(
          (yield* cli(["account", "list"], environment)).stdout,
          `${id}\tenterprise\tactive\tada@example.com`
        )
        assert.include((yield* cli(["account", "key", "4711"], environment)).stderr, "Account 4711 does not exist")
      }).pipe(Effect.provide(TestDatabase.layer)),
    120_000
  )

  it.live(
    "account create reads a password from the first line of standard input, and takes none as an argument",
    () =>
      Effect.gen(function*() {
        const environment = yield* onDatabase
        const sql = yield* SqlClient.SqlClient
        const create = (email: string, words: ReadonlyArray<string>, input?: string) =>
          cli(["account", "create", "--email", email, "--name", "Ada", ...words], environment, input)
        const made = yield* create("ada@example.com", ["--password-stdin", "--json"], "correct horse battery\nmore\n")
        assert.strictEqual(made.code, 0, made.stderr)
        const [account] = yield* sql`select password_hash from accounts where email = 'ada@example.com'`
        assert.isTrue(yield* Passwords.verify("correct horse battery", String(account?.["password_hash"])))
        const empty = yield* create("eve@example.com", ["--password-stdin"], "\n")
        assert.deepStrictEqual([empty.code, empty.stderr], [
          1,
          "No password was entered. Type it, or write it to standard input as one line.\n"
        ])
        const argument = yield* create("eve@example.com", ["--password", "correct horse battery"])
        assert.strictEqual(argument.code, 1)
        assert.deepStrictEqual(yield* sql`select from accounts where email = 'eve@example.com'`, [])
      }).pipe(Effect.provide(TestDatabase.layer)),
    120_000
  )

  it.live("doctor names each failed check and exits with 1", () =>
    Effect.gen(function*() {
      const dns = yield* makeDnsServer({})
      const environment = {
        ...(yield* onDatabase),
        ...sandboxed,
        SMTP_URL: "smtp://127.0.0.1:1",
        DNS_SERVERS: dns.address
      }
      const { code, stdout } = yield* cli(["doctor"], environment)
      assert.strictEqual(code, 1)
      assert.match(stdout, /^ok {4}database: PostgreSQL/m)
      assert.match(stdout, /^FAIL {2}mail: .*ECONNREFUSED/m)
      assert.match(stdout, /^FAIL {2}dns: spf\.localhost\.localdomain has no SPF record\. .*SPF_INCLUDE_HOST/m)
      dns.zone["spf.localhost.localdomain"] = { TXT: ["v=spf1 ip4:192.0.2.1 -all"] }
      assert.match((yield* cli(["doctor"], environment)).stdout, /^ok {4}dns: /m)
      assert.match(stdout, /^ok {4}links: PUBLIC_URL is not set: links in mail work on this machine only$/m)
      assert.match(stdout, /^ok {4}bounces: MAIL_BOUNCE_DOMAIN is not set: .* bounces and complaints stay unknown/m)
      // This DNS has no address for the machine's name, whether that is a full name or not.
      assert.match(stdout, /^FAIL {2}helo: (HELO_NAME is not set, .*|.* has no address\.) Set HELO_NAME /m)
      const named = { ...environment, HELO_NAME: "Node.Example." }
      assert.match((yield* cli(["doctor"], named)).stdout, /^FAIL {2}helo: node\.example has no address\. /m)
      dns.zone["node.example"] = { AAAA: ["2001:db8::1"] }
      assert.match((yield* cli(["doctor"], named)).stdout, /^ok {4}helo: node\.example has an address$/m)
      const bounces = {
        ...environment,
        PUBLIC_URL: "http://localhost:8080",
        MAIL_BOUNCE_DOMAIN: "Bounces.Example.",
        BOUNCE_PORT: "25",
        BOUNCE_HOST: "0.0.0.0"
      }
      const elsewhere = (yield* cli(["doctor"], bounces)).stdout
      assert.match(elsewhere, /^FAIL {2}bounces: bounces\.example has no MX record\. /m)
      assert.match(
        elsewhere,
        /^ok {4}links: PUBLIC_URL is an address of this machine: links in mail work on this machine only$/m
      )
      dns.zone["bounces.example"] = { MX: [[10, "mx.bounces.example"]] }
      assert.match((yield* cli(["doctor"], bounces)).stdout, /^ok {4}bounces: .* bounces\.example; .* 0\.0\.0\.0:25$/m)
    }).pipe(Effect.provide(TestDatabase.layer)), 120_000)
})

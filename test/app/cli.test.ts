import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import manifest from "../../package.json" with { type: "json" }
import { settings } from "../../src/platform/config/settings.ts"
import * as Passwords from "../../src/platform/crypto/Passwords.ts"
import { cli, sandboxed } from "../support/cli.ts"
import { makeDnsServer } from "../support/DnsServer.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const onDatabase = Effect.map(TestDatabase, ({ url }) => ({
  DATABASE_URL: url,
  ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64")
}))

/** All commands but the help: each of them reads the settings. */
const readingSettings = [
  "config",
  "serve",
  "doctor",
  "migrate",
  "account list",
  "account key 1",
  "console setup-link",
  "console operator ada@example.com",
  "webhook listen",
  "prices import prices.csv",
  "rotate-key",
  "restored",
  "usage rebuild"
]

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "messaging-cli-"))),
  (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true }))
)

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
      }).pipe(Effect.provide(TestDatabase.layer))
  )

  it.live("migrate stops with one sentence that hides the password when the database is unreachable", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* cli(["migrate"], { DATABASE_URL: "postgres://user:geheim@127.0.0.1:1/x" })
      assert.strictEqual(code, 1)
      assert.match(stderr, /^PostgreSQL cannot be used: connect ECONNREFUSED 127\.0\.0\.1:1\. Check DATABASE_URL/)
      assert.notInclude(stderr, "geheim")
    }))

  it.live(
    "a password that is not percent-encoded is refused at once, and no command waits for the database",
    () =>
      Effect.gen(function*() {
        const environment = { DATABASE_URL: "postgres://m:p@ss:w%rd@127.0.0.1:1/x", DATABASE_WAIT_SECONDS: "600" }
        for (const command of ["migrate", "serve"]) {
          const { code, stderr } = yield* cli([command], environment)
          assert.strictEqual(code, 1)
          assert.match(
            stderr,
            /DATABASE_URL must be a URL whose user name and password are percent-encoded: write % as %25/
          )
          assert.notInclude(stderr, "w%rd")
        }
      })
  )

  it.live("serve names every invalid setting at once", () =>
    Effect.gen(function*() {
      const { stderr } = yield* cli(["serve"], { PORT: "eighty", LOG_LEVEL: "verbose", WEBHOOK_TIMEOUT_SECONDS: "-1" })
      assert.deepStrictEqual(stderr.trim().split("\n").map((line) => line.split(" ")[0]), [
        "PORT",
        "WEBHOOK_TIMEOUT_SECONDS",
        "LOG_LEVEL"
      ])
    }))

  it.live("serve names everything that production lacks before it connects to the database", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* cli(["serve"], {
        DATABASE_URL: "postgres://u:p@127.0.0.1:1/x",
        MAIL_FROM: "nobody",
        SMS_PROVIDER: "smpp"
      })
      assert.strictEqual(code, 1)
      for (
        const name of [
          "SMTP_URL and WHATSAPP_URL are required",
          "ENCRYPTION_KEY must",
          "MAIL_FROM must",
          "SMPP_URL must"
        ]
      ) {
        assert.include(stderr, name)
      }
      assert.notInclude(stderr, "ECONNREFUSED")
    }))

  it.live("an unknown name in .env stops each command that reads settings, and gets the nearest setting", () =>
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      NodeFs.writeFileSync(NodePath.join(folder, ".env"), "SMTP_ULR=smtp://relay\nOTP_LIMT_HOUR=9\nCOLOUR=red\n")
      const path = NodePath.join(NodeFs.realpathSync(folder), ".env")
      for (const command of readingSettings) {
        const ended = yield* cli(command.split(" "), {}, { cwd: folder })
        assert.deepStrictEqual(ended, {
          code: 1,
          stdout: "",
          stderr: `${path} sets COLOUR, which is not a setting. Remove it: docs/settings.md lists all settings.\n`
            + `${path} sets OTP_LIMT_HOUR, which is not a setting. Did you mean OTP_LIMIT_HOUR?\n`
            + `${path} sets SMTP_ULR, which is not a setting. Did you mean SMTP_URL?\n`
        }, command)
      }
      assert.deepStrictEqual(NodeFs.readdirSync(folder), [".env"])
    }).pipe(Effect.scoped))

  it.live("config prints each value with its origin, masks secrets, and warns of a misspelt variable", () =>
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      NodeFs.writeFileSync(NodePath.join(folder, ".env"), "DRAIN_SECONDS=7\nPORT=9002\n")
      const { code, stderr, stdout } = yield* cli(["config"], {
        SMTP_URL: "smtp://u:geheim@relay",
        PORT: "9001",
        WEBHOOK_TIMEOUT: "3",
        HOME: "/root"
      }, { cwd: folder })
      assert.strictEqual(code, 0, stderr)
      const lines = stdout.split("\n")
      for (
        const line of [
          "environment  PORT=9001",
          "environment  SMTP_URL=********",
          ".env         DRAIN_SECONDS=7",
          "default      HOST=127.0.0.1",
          "mode         SMS_PROVIDER=sandbox",
          "unset        PUBLIC_URL="
        ]
      ) assert.include(lines, line)
      assert.notInclude(stdout, "geheim")
      assert.strictEqual(stderr, "WARN  WEBHOOK_TIMEOUT is not a setting. Did you mean WEBHOOK_TIMEOUT_SECONDS?\n")
    }).pipe(Effect.scoped))

  it.live("config prints the value of .env also if the environment has a longer name that begins in the same way", () =>
    Effect.gen(function*() {
      const names = Object.values(settings).map(({ name }) => name)
      const longer = names.filter((name) => names.some((other) => name.startsWith(`${other}_`)))
      const values = {
        HOST: "127.0.0.2",
        HTTP_CONNECTIONS: "123",
        REGISTRATION: "closed",
        ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64"),
        MAIL_FROM: "ada@example.com",
        CONSOLE: "off",
        OTP_LIMIT_HOUR: "6",
        OTP_LIMIT_DAY: "7"
      }
      const shorter = names.filter((name) => names.some((other) => other.startsWith(`${name}_`)))
      assert.deepStrictEqual(Object.keys(values), ["HOST", ...shorter])
      const folder = yield* temporaryFolder
      const lines = Object.entries(values).map(([name, value]) => `${name}=${value}`)
      NodeFs.writeFileSync(NodePath.join(folder, ".env"), lines.join("\n"))
      // Compose files leave an empty variable for a value that is not set.
      const environment = Object.fromEntries(longer.map((name) => [name, ""]))
      const { code, stderr, stdout } = yield* cli(["config"], { ...environment, HOST_IP: "10.0.0.7" }, { cwd: folder })
      assert.strictEqual(code, 0, stderr)
      const printed = stdout.split("\n").filter((line) => line.startsWith(".env "))
      assert.deepStrictEqual(
        printed,
        lines.map((line) => `.env         ${line.replace(/^(ENCRYPTION_KEY=).*/, "$1********")}`)
      )
    }).pipe(Effect.scoped))

  it.live("a mistyped command gets its error, the nearest command and the way to the help, and needs no settings", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* cli(["doctro"], { PORT: "eighty" })
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(stderr, /^Unknown subcommand "doctro"/)
      assert.match(stderr, /Did you mean this\?\n {4}doctor\n/)
      assert.match(stderr, /\nHelp: npm run cli -- --help\n$/)
    }))

  it.live("a mistyped option gets its error, the nearest option and the way to its command's help", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* cli(["account", "create", "--emial", "ada@example.com"])
      assert.strictEqual(code, 1)
      assert.match(stderr, /^Unrecognized flag: --emial/)
      assert.include(stderr, "--email")
      assert.match(stderr, /\nHelp: npm run cli -- account create --help\n$/)
    }))

  it.live("a wrong plan gets the list of plans", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* cli(["account", "plan", "1", "gold"])
      assert.strictEqual(code, 1)
      assert.include(stderr, `Expected: "starter" | "growth" | "business" | "enterprise"`)
    }))

  it.live("--version prints the version of package.json without loading the program", () =>
    Effect.gen(function*() {
      const { stdout } = yield* cli(["--version"], {})
      assert.strictEqual(stdout, `messaging-service ${manifest.version}\n`)
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
      }).pipe(Effect.provide(TestDatabase.layer))
  )

  it.live(
    "account create and migrate bind a database to their main key, and under another one write nothing",
    () =>
      Effect.gen(function*() {
        const own = yield* onDatabase
        const other = { ...own, ENCRYPTION_KEY: Buffer.alloc(32, 2).toString("base64") }
        const sql = yield* SqlClient.SqlClient
        const create = (email: string, environment: Readonly<Record<string, string>>) =>
          cli(["account", "create", "--email", email, "--name", "Ada"], environment)
        assert.strictEqual((yield* create("ada@example.com", own)).code, 0)
        const refused = yield* create("eve@example.com", other)
        assert.strictEqual(refused.code, 1)
        assert.match(refused.stderr, /^ENCRYPTION_KEY is not the main key of this database\./)
        assert.deepStrictEqual(yield* sql`select from accounts where email = 'eve@example.com'`, [])

        yield* sql`delete from migrations where name >= '0002'`
        const unmigrated = yield* cli(["migrate"], other)
        assert.strictEqual(unmigrated.code, 1)
        assert.match(unmigrated.stderr, /^ENCRYPTION_KEY is not the main key of this database\./)
      }).pipe(Effect.provide(TestDatabase.layer))
  )

  it.live("migrate binds a new database to its main key, and needs none", () =>
    Effect.gen(function*() {
      const { DATABASE_URL, ENCRYPTION_KEY } = yield* onDatabase
      const sql = yield* SqlClient.SqlClient
      assert.strictEqual((yield* cli(["migrate"], { DATABASE_URL })).code, 0)
      assert.deepStrictEqual(yield* sql`select from main_key_probe`, [])
      assert.strictEqual((yield* cli(["migrate"], { DATABASE_URL, ENCRYPTION_KEY })).code, 0)
      assert.lengthOf(yield* sql`select from main_key_probe`, 1)
    }).pipe(Effect.provide(TestDatabase.layer)))

  it.live(
    "account create reads a password from the first line of standard input, and takes none as an argument",
    () =>
      Effect.gen(function*() {
        const environment = yield* onDatabase
        const sql = yield* SqlClient.SqlClient
        const create = (email: string, words: ReadonlyArray<string>, input = "") =>
          cli(["account", "create", "--email", email, "--name", "Ada", ...words], environment, { input })
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
      }).pipe(Effect.provide(TestDatabase.layer))
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
    }).pipe(Effect.provide(TestDatabase.layer)))
})

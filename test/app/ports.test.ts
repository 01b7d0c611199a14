import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, type Scope } from "effect"
import * as NodeFs from "node:fs"
import * as NodeNet from "node:net"
import * as NodeUrl from "node:url"
import { barrier } from "../../src/platform/database/embedded/EmbeddedAccount.ts"
import { cli, sandboxed } from "../support/cli.ts"
import { freePort } from "../support/freePort.ts"
import { encryptionKey } from "../support/Service.ts"

/** A port of this machine that a server has. */
const takenPort: Effect.Effect<number, never, Scope.Scope> = Effect.acquireRelease(
  // Outgoing connections take none of the ports beside it, of which one is proposed.
  Effect.flatMap(freePort, (port) =>
    Effect.callback<NodeNet.Server>((resume) => {
      const server = NodeNet.createServer()
      server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
    })),
  (server) => Effect.sync(() => server.close())
).pipe(Effect.map((server) => Object(server.address()).port))

const main = NodeUrl.fileURLToPath(new URL("../../src/main.ts", import.meta.url))

/** Root may use every port, so its tests run this command as another user. */
const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined

/** Whether that user can read the program, and ports below 1024 are reserved, which containers may change. */
const hasReservedPorts = process.platform === "linux"
  && Number(NodeFs.readFileSync("/proc/sys/net/ipv4/ip_unprivileged_port_start", "utf8")) > 84
  && (user === undefined || Option.isNone(barrier(main, { ...user, switched: true })))

/** No database answers there: the ports are tried before. */
const settings = {
  ...sandboxed,
  DATABASE_URL: "postgres://u:p@127.0.0.1:1/x",
  DATABASE_WAIT_SECONDS: "0",
  ENCRYPTION_KEY: encryptionKey,
  PORT: "0"
}

describe("a start", () => {
  for (const name of ["PORT", "RUNNER_PORT", "METRICS_PORT", "BOUNCE_PORT"]) {
    it.live(`whose ${name} is in use says so before it needs the database, with a command that uses a free port`, () =>
      Effect.gen(function*() {
        const port = yield* takenPort
        const { code, stderr } = yield* cli(["serve"], { ...settings, [name]: String(port) })
        assert.strictEqual(code, 1)
        const [, other = ""] = new RegExp(
          `^Port ${port} of 127\\.0\\.0\\.1 is in use\\. Use another one: ${name}=(\\d+) npm start\\n$`
        ).exec(stderr) ?? assert.fail(stderr)
        const next = yield* cli(["serve"], { ...settings, [name]: other })
        assert.include(next.stderr, "PostgreSQL cannot be used")
      }).pipe(Effect.scoped))
  }

  it.live.skipIf(!hasReservedPorts)(
    "as an account that may not use a port names each setting at once, with a command that uses one that it may",
    () =>
      Effect.gen(function*() {
        const names = ["PORT", "RUNNER_PORT", "METRICS_PORT", "BOUNCE_PORT"]
        const reserved = Object.fromEntries(names.map((name, index) => [name, String(81 + index)]))
        const { code, stderr } = yield* cli(["serve"], { ...settings, ...reserved }, { user })
        assert.strictEqual(code, 1)
        const found = [
          ...stderr.matchAll(
            /^This account may not listen on port (\d+) of 127\.0\.0\.1\. Use another one: (\w+)=(\d+) npm start$/gm
          )
        ]
        assert.sameMembers(
          found.map(([, port = "", name = ""]) => `${name} ${port}`),
          Object.entries(reserved).map((each) => each.join(" ")),
          stderr
        )
        const others = Object.fromEntries(found.map(([, , name = "", other = ""]) => [name, other]))
        const next = yield* cli(["serve"], { ...settings, ...others }, { user })
        assert.include(next.stderr, "PostgreSQL cannot be used")
      })
  )

  it.live("at an address of another machine says that its setting must name one of this machine", () =>
    Effect.gen(function*() {
      const { stderr } = yield* cli(["serve"], { ...settings, HOST: "192.0.2.7", PORT: "18099" })
      assert.strictEqual(
        stderr,
        "192.0.2.7 is not an address of this machine. Set HOST to one of its addresses, such as 127.0.0.1 or 0.0.0.0.\n"
      )
    }))

  it.live("names all ports that are in use at once", () =>
    Effect.gen(function*() {
      const [http, metrics] = [yield* takenPort, yield* takenPort]
      const { stderr } = yield* cli(["serve"], { ...settings, PORT: String(http), METRICS_PORT: String(metrics) })
      assert.match(stderr, new RegExp(`^Port ${http} .*\nPort ${metrics} .*\n$`))
    }).pipe(Effect.scoped))

  it.live("of webhook listen on a port in use names its option", () =>
    Effect.gen(function*() {
      const port = yield* takenPort
      const { code, stderr } = yield* cli(["webhook", "listen", "--port", String(port)])
      assert.strictEqual(code, 1)
      assert.match(
        stderr,
        new RegExp(`^Port ${port} of .* Use another one: npm run cli -- webhook listen --port \\d+\n$`)
      )
    }).pipe(Effect.scoped))
})

import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as NodeFs from "node:fs"
import * as NodeNet from "node:net"
import { eventually, makeAccount, Service } from "../support/Service.ts"
import { longer } from "../support/waiting.ts"
import { inTime, rounds } from "./inTime.ts"

const MiB = 1024 * 1024
const count = rounds > 1 ? 60 : 30
const full = Buffer.alloc(10 * MiB, " ")

/** A connection of a misbehaving client. Each has its own address on this machine, as limits count by address. */
const connect = (port: number, address: string, bytes: ReadonlyArray<Uint8Array | string> = []) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const socket = NodeNet.connect({ port, host: "127.0.0.1", localAddress: address })
      const client = { socket, text: "", isClosed: false }
      socket.on("error", () => {})
      socket.on("data", (chunk) => {
        client.text += chunk.toString("latin1")
      })
      socket.on("close", () => {
        client.isClosed = true
      })
      for (const part of bytes) socket.write(part)
      return client
    }),
    ({ socket }) => Effect.sync(() => socket.destroy())
  )

const post = (path: string, fields: ReadonlyArray<string>) =>
  [`POST ${path} HTTP/1.1`, "Host: localhost", "Content-Type: application/json", ...fields, "", ""].join("\r\n")

/** The status of each answer that has arrived. */
const statuses = (clients: ReadonlyArray<{ readonly text: string }>) =>
  clients.flatMap(({ text }) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)))

/** The most memory that the process has had. */
const peakMiB = (pid: number) =>
  Number(/VmHWM:\s+(\d+)/.exec(NodeFs.readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]) / 1024

/** Keeps checking health and another account's requests while the attack lasts, and returns the attack's result. */
const beside = <A, E, R>(attack: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.gen(function*() {
    const node = yield* Service
    const { key } = yield* makeAccount()
    const template = { name: "Letter", subject: "Hello", html: "x".repeat(100_000) }
    // With a connection for each request: the node may close a silent one at the moment of its next request.
    const headers = { connection: "close" }
    const others = Effect.gen(function*() {
      const startedAt = performance.now()
      assert.strictEqual((yield* node.request("GET", "/health/live", { headers })).status, 200)
      const took = performance.now() - startedAt
      assert.isBelow(took, inTime(2_000), "milliseconds of a health check")
      assert.strictEqual((yield* node.request("GET", "/v1/account", { key, headers })).status, 200)
      const created = yield* node.request("POST", "/v1/email/templates", { key, headers, json: template })
      assert.strictEqual(created.status, 201, created.text)
    })
    const checks = yield* Effect.forkChild(Effect.forever(Effect.delay(others, "50 millis")))
    const result = yield* Effect.raceFirst(attack, Fiber.join(checks))
    yield* Fiber.interrupt(checks)
    yield* others
    assert.isBelow(peakMiB(node.pid), 700, "MiB of the node")
    return result
  }))

layer(Service.layer({ env: { NODE_OPTIONS: "--max-old-space-size=256" } }), {
  excludeTestServices: true
})("a node with a heap of 256 MiB under overload", (it) => {
  for (let round = 1; round <= Math.min(rounds, 5); round++) {
    const bodies: ReadonlyArray<readonly [what: string, json: object]> = [
      ["99,000 invalid recipients", { recipients: Array.from({ length: 99_000 }, () => "q") }],
      [
        "50,000 invalid variables",
        {
          recipients: Array.from({ length: 500 }, () => ({
            to: "q",
            variables: Object.fromEntries(Array.from({ length: 98 }, (_, index) => [`v${index}`, []]))
          }))
        }
      ]
    ]
    for (const [what, json] of bodies) {
      it.effect(`refuses many bodies of ${what} at once, and serves others (round ${round})`, () =>
        beside(Effect.gen(function*() {
          const { request } = yield* Service
          const { key } = yield* makeAccount()
          const body = JSON.stringify({ subject: "s", html: "h", ...json })
          const answers = yield* Effect.all(
            Array.from({ length: count }, () => request("POST", "/v1/email/send-bulk", { key, body })),
            { concurrency: "unbounded" }
          )
          for (const { status, text } of answers) assert.include([422, 503], status, text)
          for (const { headers, status } of answers) if (status === 503) assert.isDefined(headers["retry-after"])
          assert.isTrue(answers.some(({ status }) => status === 422))
        })))
    }

    it.effect(`refuses slow uploads beyond an account's share, and serves others (round ${round})`, () =>
      beside(Effect.gen(function*() {
        const { port } = yield* Service
        const { key } = yield* makeAccount()
        const head = post("/v1/email/send-bulk", [`Authorization: Bearer ${key}`, `Content-Length: ${full.length}`])
        const clients = yield* Effect.all(
          Array.from({ length: 60 }, () => connect(port, "127.0.0.2", [head, full.subarray(1)]))
        )
        const seen = yield* eventually(Effect.sync(() => statuses(clients)), (seen) => seen.length >= 55, longer.load)
        assert.isTrue(seen.every((status) => status === 503), seen.join())
        assert.isTrue(
          clients.some(({ isClosed, text }) => text === "" && !isClosed),
          "an upload within the share goes on"
        )
      })))

    it.effect(`refuses large uploads without a key before it reads them (round ${round})`, () =>
      beside(Effect.gen(function*() {
        const { port } = yield* Service
        const chunked = `${(64 * 1024).toString(16)}\r\n${" ".repeat(64 * 1024)}\r\n`
        const clients = yield* Effect.all(Array.from({ length: 400 }, (_, index) =>
          connect(
            port,
            "127.0.0.2",
            index % 2 === 0
              ? [post("/v1/auth/login", [`Content-Length: ${MiB}`]), full.subarray(0, MiB)]
              : [post("/v1/auth/login", ["Transfer-Encoding: chunked"]), ...Array.from({ length: 16 }, () => chunked)]
          )))
        const seen = yield* eventually(Effect.sync(() => statuses(clients)), (seen) => seen.length >= 350, longer.load)
        assert.deepStrictEqual([...new Set(seen)], [413])
      })))

    it.effect(`closes the longest silent of thousands of connections (round ${round})`, () =>
      beside(Effect.gen(function*() {
        const { port } = yield* Service
        const clients = yield* Effect.all(
          Array.from({ length: 4_000 }, (_, index) => connect(port, `127.0.0.${2 + index % 10}`))
        )
        const open = () => clients.filter(({ isClosed }) => !isClosed).length
        yield* eventually(Effect.sync(open), (count) => count <= 2_000, longer.load)
        assert.isAbove(open(), 0)
      })))

    it.effect(`refuses the connections of an address beyond its share with 503 (round ${round})`, () =>
      beside(Effect.gen(function*() {
        const { port } = yield* Service
        const clients = yield* Effect.all(Array.from({ length: 700 }, () => connect(port, "127.0.0.2")))
        const refused = () => clients.filter(({ isClosed }) => isClosed)
        yield* eventually(Effect.sync(() => refused().length), (count) => count >= 200, longer.load)
        assert.deepStrictEqual([...new Set(statuses(refused()))], [503])
        assert.include(refused()[0]?.text.toLowerCase(), "retry-after: ")
      })))

    it.effect(`refuses pipelined requests beyond an address's share with 503 (round ${round})`, () =>
      beside(Effect.gen(function*() {
        const { port } = yield* Service
        const { key } = yield* makeAccount()
        const get = `GET /v1/account HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`
        const clients = yield* Effect.all(
          Array.from({ length: 4 }, () => connect(port, "127.0.0.2", [get.repeat(2_000)]))
        )
        const seen = yield* eventually(
          Effect.sync(() => statuses(clients)),
          (seen) => seen.length >= 8_000,
          longer.load
        )
        assert.includeMembers([200, 503], [...new Set(seen)])
        assert.isTrue(seen.includes(200) && seen.includes(503))
      })))

    it.effect(`refuses large answers to clients that do not read them (round ${round})`, () =>
      beside(Effect.gen(function*() {
        const { port, request } = yield* Service
        const { key } = yield* makeAccount()
        const html = "x".repeat(900_000)
        const created = yield* request("POST", "/v1/email/templates", { key, json: { name: "n", subject: "s", html } })
        const get = `GET /v1/email/templates/${String(created.at("data", "id"))} HTTP/1.1\r\n`
          + `Host: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`
        const clients = yield* Effect.all(Array.from({ length: 5 }, () => connect(port, "127.0.0.2")))
        // 80 MB for each client: Linux holds up to 40 of them for a connection.
        for (const { socket } of clients) socket.pause().write(get.repeat(90))
        const again = request("GET", `/v1/email/templates/${String(created.at("data", "id"))}`, { key })
        const refused = yield* eventually(again, ({ status }) => status === 503, longer.load)
        assert.isDefined(refused.headers["retry-after"])
      })))
  }
})

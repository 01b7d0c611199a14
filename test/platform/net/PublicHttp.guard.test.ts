import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import * as NodeDiagnostics from "node:diagnostics_channel"
import type * as NodeNet from "node:net"
import * as NodeThreads from "node:worker_threads"
import { PublicHttp, type PublicHttpOptions } from "../../../src/platform/net/PublicHttp.ts"
import { isPublicAddress } from "../../../src/values/publicAddress.ts"
import { type DnsZone, makeDnsServer } from "../../support/DnsServer.ts"
import { privateHosts } from "../../support/privateHosts.ts"
import { selfSigned } from "../../support/selfSigned.ts"
import { makeWebhookReceiver } from "../../support/WebhookReceiver.ts"

/** An address of this machine that stands for the public internet, so that there is something to let through. */
const standIn = "127.0.0.2"
const isAllowed = (address: string) => address === standIn || isPublicAddress(address)

const post = (url: string, options: PublicHttpOptions) =>
  PublicHttp.use((http) => http.post({ url: new URL(url), headers: () => ({}), body: Buffer.from("{}") })).pipe(
    Effect.provide(PublicHttp.layer({ timeout: "3 seconds", ...options }))
  )

const zone: DnsZone = {
  "public.test": { A: [standIn] },
  "alias.test": { CNAME: "public.test" },
  "loopback.test": { A: ["127.0.0.1"] },
  "private.test": { A: ["10.1.2.3"] },
  "metadata.test": { A: ["169.254.169.254"] },
  "alias-of-metadata.test": { CNAME: "metadata.test" },
  "mixed.test": { A: [standIn, "127.0.0.1"] },
  "mixed-families.test": { A: [standIn], AAAA: ["::1"] },
  "loopback6.test": { AAAA: ["::1"] },
  "mapped.test": { AAAA: ["::ffff:127.0.0.1"] },
  "nat64.test": { AAAA: ["64:ff9b::7f00:1"] },
  "unique-local.test": { AAAA: ["fd00::1"] },
  "link-local.test": { AAAA: ["fe80::1"] },
  "zero.test": { A: ["0.0.0.0"] }
}

const refusedNames = Object.keys(zone).filter((name) => name !== "public.test" && name !== "alias.test")

describe("PublicHttp with a forbidden target", () => {
  for (const [what, host] of privateHosts) {
    it.live(`refuses ${what}: ${host}`, () =>
      Effect.gen(function*() {
        const receiver = yield* makeWebhookReceiver({ host: "::" })
        const failure = yield* Effect.flip(post(`http://${host}:${receiver.port}/`, {}))
        assert.strictEqual(failure.reason, "blocked_address")
        assert.match(failure.detail, /: use a public host$/)
        assert.strictEqual(receiver.connections(), 0)
      }))
  }

  for (const name of refusedNames) {
    it.live(`refuses ${name}, which resolves to ${JSON.stringify(zone[name])}`, () =>
      Effect.gen(function*() {
        const dns = yield* makeDnsServer(zone)
        const receiver = yield* makeWebhookReceiver({ host: "::" })
        const options = { dnsServers: [dns.address], isAllowed }
        const failure = yield* Effect.flip(post(`http://${name}:${receiver.port}/`, options))
        assert.strictEqual(failure.reason, "blocked_address")
        assert.strictEqual(receiver.connections(), 0)
        assert.match(failure.detail, /: use a public host$/)
        assert.notMatch(failure.detail, /\d\.\d|::/, "the sentence tells no private address")
      }))
  }

  for (const name of ["public.test", "alias.test", standIn]) {
    it.live(`reaches ${name}, so the refusals above are not accidental`, () =>
      Effect.gen(function*() {
        const dns = yield* makeDnsServer(zone)
        const receiver = yield* makeWebhookReceiver({ host: "::" })
        const response = yield* post(`http://${name}:${receiver.port}/`, { dnsServers: [dns.address], isAllowed })
        assert.strictEqual(response.kind, "success")
        assert.strictEqual(receiver.connections(), 1)
      }))
  }

  it.live("refuses https too, before TLS starts", () =>
    Effect.gen(function*() {
      const receiver = yield* makeWebhookReceiver({ tls: selfSigned })
      for (const host of ["127.0.0.1", "localhost"]) {
        const failure = yield* Effect.flip(post(`https://${host}:${receiver.port}/`, { ca: selfSigned.cert }))
        assert.strictEqual(failure.reason, "blocked_address")
      }
      assert.strictEqual(receiver.connections(), 0)
    }))

  it.live("refuses a name whose address changed since an earlier look-up", () =>
    Effect.gen(function*() {
      const rebinding: DnsZone = {
        "rebind.test": (asked, type) => type === "AAAA" ? {} : { A: [asked === 0 ? standIn : "127.0.0.1"] }
      }
      const dns = yield* makeDnsServer(rebinding)
      const receiver = yield* makeWebhookReceiver({
        host: "0.0.0.0",
        script: [{ status: 200, headers: { connection: "close" } }]
      })
      const request = {
        url: new URL(`http://rebind.test:${receiver.port}/`),
        headers: () => ({}),
        body: Buffer.from("{}")
      }
      const built = yield* Layer.build(PublicHttp.layer({ dnsServers: [dns.address], isAllowed }))
      const http = Context.get(built, PublicHttp)
      assert.strictEqual((yield* http.post(request)).status, 200)
      yield* receiver.disconnected
      assert.strictEqual((yield* Effect.flip(http.post(request))).reason, "blocked_address")
      assert.strictEqual(receiver.connections(), 1)
      assert.strictEqual(dns.queries.filter((query) => query === "A rebind.test").length, 2, "one look-up for each")
    }))

  for (const scheme of ["http", "https"]) {
    it.live(`sends no byte over ${scheme} to a connected peer that is not public`, () =>
      Effect.gen(function*() {
        const dns = yield* makeDnsServer(zone)
        const received: Array<Buffer> = []
        const receiver = yield* makeWebhookReceiver({ host: "0.0.0.0", onBytes: (bytes) => received.push(bytes) })
        let asked = 0
        const failure = yield* Effect.flip(post(`${scheme}://public.test:${receiver.port}/`, {
          dnsServers: [dns.address],
          isAllowed: () => asked++ === 0
        }))
        assert.strictEqual(failure.reason, "blocked_address")
        yield* receiver.disconnected
        assert.strictEqual(asked, 2)
        assert.deepStrictEqual(received, [])
      }))
  }

  for (const status of [301, 302, 303, 307, 308]) {
    it.live(`does not follow a ${status}`, () =>
      Effect.gen(function*() {
        const dns = yield* makeDnsServer(zone)
        const inner = yield* makeWebhookReceiver()
        for (const location of ["http://169.254.169.254/latest/meta-data/", `http://127.0.0.1:${inner.port}/`]) {
          const receiver = yield* makeWebhookReceiver({ host: "0.0.0.0", script: [{ status, headers: { location } }] })
          const options = { dnsServers: [dns.address], isAllowed }
          const response = yield* post(`http://public.test:${receiver.port}/`, options)
          assert.deepInclude(response, { kind: "redirect", status, location })
          assert.lengthOf(receiver.requests, 1)
        }
        assert.strictEqual(inner.connections(), 0)
      }))
  }
})

/** The port of a server that resets every connection, in another thread. */
const resettingPort = Effect.acquireRelease(
  Effect.sync(() =>
    new NodeThreads.Worker(
      `const server = require("node:net").createServer((socket) => void socket.resetAndDestroy())
server.listen(0, "127.0.0.1", () => require("node:worker_threads").parentPort.postMessage(server.address().port))`,
      { eval: true }
    )
  ),
  (worker) => Effect.promise(() => worker.terminate())
).pipe(Effect.flatMap((worker) =>
  Effect.callback<number>((resume) => {
    worker.once("message", (port: number) => resume(Effect.succeed(port)))
  })
))

/** From now on, this thread stops for this time when a connection is made, before anything looks at its peer. */
const slowToCheck = (millis: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const stop = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, millis)
      const begun = (message: unknown) => {
        const { socket } = message as { readonly socket: NodeNet.Socket }
        socket.once("connect", stop)
      }
      NodeDiagnostics.subscribe("net.client.socket", begun)
      return begun
    }),
    (begun) => Effect.sync(() => NodeDiagnostics.unsubscribe("net.client.socket", begun))
  )

describe("PublicHttp in development mode", () => {
  for (const host of ["localhost", "127.0.0.1", "[::1]", "2130706433"]) {
    it.live(`reaches ${host}`, () =>
      Effect.gen(function*() {
        const receiver = yield* makeWebhookReceiver({ host: "::" })
        const response = yield* post(`http://${host}:${receiver.port}/`, { allowLoopback: true })
        assert.strictEqual(response.kind, "success")
      }))
  }

  it.live("says of a peer that resets before it was checked that it did, and not that its address is not public", () =>
    Effect.gen(function*() {
      const port = yield* resettingPort
      yield* slowToCheck(300)
      const failure = yield* Effect.flip(post(`http://127.0.0.1:${port}/`, { allowLoopback: true }))
      assert.strictEqual(failure.reason, "connection_reset")
    }))

  for (const host of ["127.0.0.2", "0.0.0.0", "[::ffff:127.0.0.1]", "10.0.0.1", "loopback.test", "loopback6.test"]) {
    it.live(`still refuses ${host}`, () =>
      Effect.gen(function*() {
        const dns = yield* makeDnsServer(zone)
        const receiver = yield* makeWebhookReceiver({ host: "::" })
        const options = { dnsServers: [dns.address], allowLoopback: true }
        const failure = yield* Effect.flip(post(`http://${host}:${receiver.port}/`, options))
        assert.strictEqual(failure.reason, "blocked_address")
        assert.strictEqual(receiver.connections(), 0)
      }))
  }
})

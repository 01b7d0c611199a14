import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Exit, Fiber, Layer, Queue } from "effect"
import { TestClock } from "effect/testing"
import type * as NodeNet from "node:net"
import { setImmediate } from "node:timers/promises"
import * as NodeZlib from "node:zlib"
import { PublicHttp, type PublicHttpOptions } from "../../../src/platform/net/PublicHttp.ts"
import { AccountId } from "../../../src/values/Ids.ts"
import { makeDnsServer } from "../../support/DnsServer.ts"
import { makeRawServer } from "../../support/RawServer.ts"
import { selfSigned } from "../../support/selfSigned.ts"
import { inPatience } from "../../support/waiting.ts"
import { makeWebhookReceiver } from "../../support/WebhookReceiver.ts"

const body = Buffer.from("{\"event\":\"message.sent\"}")
const headers = { "content-type": "application/json", "X-Service-Event": "message.sent" }
const limit = 16 * 1024

const client = (options: PublicHttpOptions = {}) =>
  Layer.build(PublicHttp.layer({ allowLoopback: true, timeout: "5 seconds", ...options })).pipe(
    Effect.map((built) => {
      const { post } = Context.get(built, PublicHttp)
      return (url: string) => post({ url: new URL(url), headers: () => headers, body })
    })
  )

describe("PublicHttp", () => {
  it.live("posts the same bytes with the given headers, and returns status, body and duration", () =>
    Effect.gen(function*() {
      const receiver = yield* makeWebhookReceiver({ script: [{ status: 201, body: "taken", afterMillis: 30 }] })
      const post = yield* client()
      const response = yield* post(`${receiver.url}/hooks/a?b=c%20d`)
      assert.deepInclude(response, { kind: "success", status: 201, truncated: false, location: undefined })
      assert.strictEqual(Buffer.from(response.body).toString(), "taken")
      assert.isAtLeast(response.durationMs, 29)
      const [request] = receiver.requests
      assert.strictEqual(request?.method, "POST")
      assert.strictEqual(request?.path, "/hooks/a?b=c%20d")
      assert.deepStrictEqual(request?.body, body)
      assert.deepInclude(request?.headers, {
        "content-type": "application/json",
        "content-length": String(body.length),
        "x-service-event": "message.sent",
        "host": `localhost:${receiver.port}`
      })
    }))

  it.live("reaches a receiver whose connection takes more than 250 ms, although its next address refuses", () =>
    Effect.gen(function*() {
      const receiver = yield* makeWebhookReceiver()
      const post = yield* client()
      const posting = yield* Effect.forkChild(post(receiver.url))
      // A busy process learns late that it is connected, as it does of a host on another continent.
      const busy = Effect.sync(() => {
        const end = performance.now() + 300
        while (performance.now() < end) continue
      })
      for (let turn = 0; turn < 2; turn++) yield* Effect.andThen(Effect.promise(() => setImmediate()), busy)
      assert.deepInclude(yield* Fiber.join(posting), { kind: "success", status: 200 })
    }))

  it.effect("measures the duration from the moment that its headers are made", () =>
    Effect.gen(function*() {
      const receiver = yield* makeWebhookReceiver()
      let nanos = 0n
      const clock = Object.assign(Object.create(yield* Clock.Clock), { monotonicTimeNanosUnsafe: () => nanos })
      const slowHeaders = () => {
        nanos += 1_000_000_000n
        return headers
      }
      const { durationMs } = yield* PublicHttp.use((http) =>
        http.post({ url: new URL(receiver.url), headers: slowHeaders, body })
      ).pipe(
        Effect.provide(PublicHttp.layer({ allowLoopback: true })),
        Effect.provideService(Clock.Clock, clock)
      )
      assert.strictEqual(durationMs, 0)
    }))

  it.live("returns any status as a response", () =>
    Effect.gen(function*() {
      const receiver = yield* makeWebhookReceiver({ script: [204, 304, 404, 410, 500, 503] })
      const post = yield* client()
      for (const [status, kind] of [[204, "success"], [304, "redirect"], [404, "refusal"], [410, "refusal"]] as const) {
        assert.deepInclude(yield* post(receiver.url), { status, kind })
      }
    }))

  it.live("writes no request that must not begin, is interrupted, and frees its slot", () =>
    Effect.gen(function*() {
      const receiver = yield* makeWebhookReceiver()
      const { post } = Context.get(
        yield* Layer.build(PublicHttp.layer({ allowLoopback: true, connectionsPerHost: 1 })),
        PublicHttp
      )
      const request = { url: new URL(receiver.url), headers: () => headers, body }
      const exit = yield* Effect.exit(post({ ...request, begin: () => false }))
      assert.isTrue(Exit.hasInterrupts(exit))
      assert.deepInclude(yield* post({ ...request, begin: () => true }), { status: 200 })
      assert.lengthOf(receiver.requests, 1)
    }))

  it.live("returns a 204 without waiting for a body", () =>
    Effect.gen(function*() {
      const receiver = yield* makeWebhookReceiver({ script: [204] })
      const response = yield* (yield* client())(receiver.url)
      assert.deepInclude(response, { status: 204, truncated: false })
      assert.lengthOf(response.body, 0)
    }))

  it.live("ignores informational responses before the final one", () =>
    Effect.gen(function*() {
      const early = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"
      const server = yield* makeRawServer(`${early}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok`)
      const response = yield* (yield* client())(server.url)
      assert.strictEqual(response.status, 200)
      assert.strictEqual(Buffer.from(response.body).toString(), "ok")
    }))

  it.live("reuses a connection for the next request", () =>
    Effect.gen(function*() {
      const receiver = yield* makeWebhookReceiver({ script: [{ status: 200, body: "ok" }] })
      const post = yield* client()
      for (let i = 0; i < 5; i++) yield* post(receiver.url)
      assert.strictEqual(receiver.connections(), 1)
    }))

  it.live("closes its connections with its scope", () =>
    Effect.gen(function*() {
      const receiver = yield* makeWebhookReceiver()
      yield* Effect.scoped(Effect.flatMap(client(), (post) => post(receiver.url)))
      yield* receiver.disconnected
    }))

  it.live("uses TLS with a trusted certificate", () =>
    Effect.gen(function*() {
      const receiver = yield* makeWebhookReceiver({ tls: selfSigned })
      const post = yield* client({ ca: selfSigned.cert })
      assert.strictEqual((yield* post(receiver.url)).status, 200)
      assert.strictEqual((yield* post(receiver.url)).status, 200)
      assert.strictEqual(receiver.connections(), 1)
    }))

  it.live("dies of an invalid header, which is the caller's fault", () =>
    Effect.gen(function*() {
      const receiver = yield* makeWebhookReceiver()
      const exit = yield* PublicHttp.use((http) =>
        http.post({ url: new URL(receiver.url), headers: () => ({ "x-bad": "a\r\nb: c" }), body })
      ).pipe(Effect.provide(PublicHttp.layer({ allowLoopback: true })), Effect.exit)
      assert.isTrue(Exit.hasDies(exit))
      assert.strictEqual(receiver.connections(), 0)
    }))
})

describe("a response's body", () => {
  it.live("is read up to 16 KiB without waiting for the rest", () =>
    Effect.gen(function*() {
      const receiver = yield* makeWebhookReceiver({ script: ["flood"] })
      const response = yield* (yield* client())(receiver.url)
      assert.deepInclude(response, { kind: "success", truncated: true })
      assert.lengthOf(response.body, limit)
      yield* receiver.disconnected
    }))

  for (const [size, truncated] of [[limit - 1, false], [limit, false], [limit + 1, true]] as const) {
    it.live(`of ${size} bytes is ${truncated ? "truncated" : "complete"}`, () =>
      Effect.gen(function*() {
        const receiver = yield* makeWebhookReceiver({ script: [{ status: 200, body: Buffer.alloc(size, "x") }] })
        const response = yield* (yield* client())(receiver.url)
        assert.strictEqual(response.truncated, truncated)
        assert.lengthOf(response.body, Math.min(size, limit))
      }))
  }

  it.live("is never decompressed", () =>
    Effect.gen(function*() {
      const bomb = NodeZlib.gzipSync(Buffer.alloc(10_000_000))
      const script = [{ status: 200, headers: { "content-encoding": "gzip" }, body: bomb }]
      const receiver = yield* makeWebhookReceiver({ script })
      const response = yield* (yield* client())(receiver.url)
      assert.isBelow(bomb.length, limit)
      assert.isTrue(bomb.equals(response.body))
    }))

  it.live("that ends early fails the request, with the status that had arrived", () =>
    Effect.gen(function*() {
      const server = yield* makeRawServer("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this")
      const failure = yield* Effect.flip((yield* client())(server.url))
      assert.deepInclude(failure, { reason: "body_read", status: 200 })
    }))
})

describe("a request without a complete response", () => {
  it.effect("fails after 10 seconds and closes its connection", () =>
    Effect.gen(function*() {
      const receiver = yield* makeWebhookReceiver({ script: ["hang"] })
      const request = PublicHttp.use((http) => http.post({ url: new URL(receiver.url), headers: () => headers, body }))
        .pipe(
          Effect.provide(PublicHttp.layer({ allowLoopback: true }))
        )
      const fiber = yield* Effect.forkChild(Effect.flip(request))
      yield* receiver.received(1)
      yield* TestClock.adjust("9999 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      const failure = yield* Fiber.join(fiber)
      assert.deepInclude(failure, { reason: "timeout", detail: "no complete response within 10s", durationMs: 10_000 })
      yield* receiver.disconnected
    }))

  it.live("has the same deadline for a slow body", () =>
    Effect.gen(function*() {
      const receiver = yield* makeWebhookReceiver({ script: ["drip"] })
      const failure = yield* Effect.flip((yield* client({ timeout: "1 second" }))(receiver.url))
      assert.deepInclude(failure, { reason: "timeout", status: 200 })
      assert.isAtLeast(failure.durationMs, 999)
      assert.isBelow(failure.durationMs, 5_000)
      yield* receiver.disconnected
    }))

  it.live("is aborted by an interruption", () =>
    Effect.gen(function*() {
      const receiver = yield* makeWebhookReceiver({ script: ["hang"] })
      const post = yield* client()
      const fiber = yield* Effect.forkChild(post(receiver.url))
      yield* receiver.received(1)
      yield* Fiber.interrupt(fiber)
      yield* receiver.disconnected
    }))

  it.live("reports a broken connection", () =>
    Effect.gen(function*() {
      const receiver = yield* makeWebhookReceiver({ script: ["reset"] })
      const failure = yield* Effect.flip((yield* client())(receiver.url))
      assert.strictEqual(failure.reason, "connection_reset")
    }))

  it.live("reports a refused connection", () =>
    Effect.gen(function*() {
      const { url } = yield* Effect.scoped(makeWebhookReceiver())
      const failure = yield* Effect.flip((yield* client())(url))
      assert.strictEqual(failure.reason, "connection_refused")
      assert.match(failure.detail, /ECONNREFUSED/)
    }))

  it.live("reports an untrusted certificate, and leaves no connection", () =>
    Effect.gen(function*() {
      const receiver = yield* makeWebhookReceiver({ tls: selfSigned })
      const failure = yield* Effect.flip((yield* client())(receiver.url))
      assert.deepInclude(failure, { reason: "tls_error", detail: "self-signed certificate" })
      assert.lengthOf(receiver.requests, 0)
      yield* receiver.disconnected
    }))

  it.live("reports a certificate of another host", () =>
    Effect.gen(function*() {
      const dns = yield* makeDnsServer({ "other.test": { A: ["127.0.0.1"] } })
      const receiver = yield* makeWebhookReceiver({ tls: selfSigned })
      const post = yield* client({ ca: selfSigned.cert, dnsServers: [dns.address], isAllowed: () => true })
      const failure = yield* Effect.flip(post(`https://other.test:${receiver.port}/`))
      assert.strictEqual(failure.reason, "tls_error")
      assert.lengthOf(receiver.requests, 0)
    }))

  it.live("reports an endpoint without TLS", () =>
    Effect.gen(function*() {
      const receiver = yield* makeWebhookReceiver()
      const failure = yield* Effect.flip((yield* client())(receiver.url.replace("http:", "https:")))
      assert.deepInclude(failure, { reason: "tls_error", detail: "TLS failed: wrong version number" })
    }))

  for (
    const answer of [
      "SSH-2.0-OpenSSH_9.6\r\n",
      "HTTP/1.1 999999 What\r\n\r\n",
      `HTTP/1.1 200 OK\r\nx: ${"x".repeat(20_000)}\r\n\r\n`
    ]
  ) {
    it.live(`reports a response that is not HTTP: ${JSON.stringify(answer.slice(0, 24))}`, () =>
      Effect.gen(function*() {
        const server = yield* makeRawServer(answer)
        const failure = yield* Effect.flip((yield* client())(server.url))
        assert.strictEqual(failure.reason, "body_read")
      }))
  }
})

describe("a host name", () => {
  const named = (zone: Parameters<typeof makeDnsServer>[0], options: PublicHttpOptions = {}) =>
    Effect.gen(function*() {
      const dns = yield* makeDnsServer(zone)
      const receiver = yield* makeWebhookReceiver()
      const post = yield* client({ dnsServers: [dns.address], isAllowed: () => true, ...options })
      return { dns, receiver, response: post(`http://hooks.test:${receiver.port}/`) }
    })

  for (
    const [what, zone] of [
      ["does not exist", {}],
      ["has no address", { "hooks.test": { TXT: ["hello"] } }],
      ["has broken name servers", { "hooks.test": "servfail" as const }],
      ["points to a name that does not exist", { "hooks.test": { CNAME: "gone.test" } }]
    ] as const
  ) {
    it.live(`that ${what} fails the request`, () =>
      Effect.gen(function*() {
        const { receiver, response } = yield* named(zone)
        const failure = yield* Effect.flip(response)
        assert.strictEqual(failure.reason, "dns_error")
        assert.match(failure.detail, /hooks\.test/)
        assert.strictEqual(receiver.connections(), 0)
      }))
  }

  it.live("with silent name servers fails at the request's deadline", () =>
    Effect.gen(function*() {
      const { response } = yield* named({ "hooks.test": "silent" }, { timeout: "1 second" })
      const failure = yield* Effect.flip(response)
      assert.strictEqual(failure.reason, "timeout")
      assert.isBelow(failure.durationMs, 5_000)
    }))

  it.live("is not delayed by name servers that do not answer for IPv6", () =>
    Effect.gen(function*() {
      const { response } = yield* named({
        "hooks.test": (_asked, type) => type === "AAAA" ? "silent" : { A: ["127.0.0.1"] }
      })
      const { durationMs, status } = yield* response
      assert.strictEqual(status, 200)
      // The wait for both tries at the name server.
      assert.isBelow(durationMs, 4_000)
    }))

  it.live("with an unreachable address before a reachable one is reached", () =>
    Effect.gen(function*() {
      const { response } = yield* named({ "hooks.test": { A: ["127.0.0.9", "127.0.0.1"] } })
      assert.strictEqual((yield* response).status, 200)
    }))
})

describe("request slots", () => {
  it.live("bound the requests to one host on all its ports", () =>
    Effect.gen(function*() {
      const begun: Array<number> = []
      const order: Array<string> = []
      const script = [{ status: 200, afterMillis: 500 }]
      const receivers = yield* Effect.all([makeWebhookReceiver({ script }), makeWebhookReceiver({ script })])
      const { post } = Context.get(
        yield* Layer.build(PublicHttp.layer({ allowLoopback: true, connectionsPerHost: 2 })),
        PublicHttp
      )
      const begin = () => {
        begun.push(performance.now())
        order.push("begin")
        return headers
      }
      const end = Effect.sync(() => order.push("end"))
      const urls = [...receivers, ...receivers].map(({ url }) => url)
      yield* Effect.forEach(urls, (url) => Effect.tap(post({ url: new URL(url), headers: begin, body }), end), {
        concurrency: "unbounded"
      })
      const [first = 0, , third = 0] = begun
      assert.deepStrictEqual(order.slice(0, 2), ["begin", "begin"])
      assert.isAtLeast(third - first, 495)
    }))

  it.live("let a request create its headers after the wait", () =>
    Effect.gen(function*() {
      const receiver = yield* makeWebhookReceiver({ script: [{ status: 200, afterMillis: 100 }] })
      const built = yield* Layer.build(PublicHttp.layer({ allowLoopback: true, connectionsPerHost: 1 }))
      const { post } = Context.get(built, PublicHttp)
      const begun: Array<number> = []
      const request = {
        url: new URL(receiver.url),
        headers: () => {
          begun.push(performance.now())
          return headers
        },
        body
      }
      yield* Effect.all([post(request), post(request)], { concurrency: 2 })
      assert.isAtLeast((begun[1] ?? 0) - (begun[0] ?? 0), 95)
    }))

  it.effect("bound the connections to an endpoint, and the wait does not count toward its deadline", () =>
    Effect.gen(function*() {
      const arrived = yield* Queue.unbounded<NodeNet.Socket>()
      const server = yield* makeRawServer((socket) =>
        socket.on("data", (bytes) => {
          if (bytes.includes("POST ")) Queue.offerUnsafe(arrived, socket)
        })
      )
      const post = yield* client({ connectionsPerHost: 2, timeout: "1 second" })
      const posts = yield* Effect.forkChild(
        Effect.forEach([1, 2, 3, 4, 5, 6, 7, 8], () => post(server.url), { concurrency: "unbounded" })
      )
      const connections = new Set<NodeNet.Socket>()
      for (let answered = 0; answered < 8; answered += 2) {
        const pair = yield* inPatience(Queue.takeN(arrived, 2), () => `${answered} requests`)
        yield* TestClock.adjust("900 millis")
        for (const socket of pair) {
          connections.add(socket)
          socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        }
      }
      const responses = yield* Fiber.join(posts)
      assert.deepStrictEqual(responses.map(({ durationMs }) => durationMs), Array(8).fill(900))
      assert.strictEqual(connections.size, 2)
    }))

  /** Posts for an account. Without a slot it waits until the test times out. */
  const asAccount = Effect.fnUntraced(function*(options: PublicHttpOptions) {
    const built = yield* Layer.build(PublicHttp.layer({ allowLoopback: true, timeout: "5 minutes", ...options }))
    const { post } = Context.get(built, PublicHttp)
    return (account: number, url: string) =>
      post({ url: new URL(url), account: AccountId.make(account), headers: () => headers, body })
  })

  it.live("stay free for another account while one holds its share of a host", () =>
    Effect.gen(function*() {
      const [slow, quick] = yield* Effect.all([makeWebhookReceiver({ script: ["hang"] }), makeWebhookReceiver()])
      const post = yield* asAccount({ connectionsPerHost: 4 })
      yield* Effect.forEach(Array.from({ length: 12 }), () => Effect.forkScoped(post(1, slow.url)))
      yield* slow.received(3)
      for (let n = 0; n < 3; n++) assert.strictEqual((yield* post(2, quick.url)).status, 200)
      assert.lengthOf(slow.requests, 3)
    }))

  it.live(
    "stay free for another account while one holds its share of all with many hosts",
    () =>
      Effect.gen(function*() {
        const [slow, quick] = yield* Effect.all([makeWebhookReceiver({ script: ["hang"] }), makeWebhookReceiver()])
        const post = yield* asAccount({ connections: 4, connectionsPerHost: 2 })
        const elsewhere = slow.url.replace("localhost", "127.0.0.1")
        const urls = [slow.url, slow.url, elsewhere, elsewhere, slow.url, elsewhere]
        yield* Effect.forEach(urls, (url) => Effect.forkScoped(post(1, url)))
        yield* slow.received(3)
        const url = quick.url.replace("localhost", "127.0.0.1")
        for (let n = 0; n < 3; n++) assert.strictEqual((yield* post(2, url)).status, 200)
        assert.lengthOf(slow.requests, 3)
      })
  )

  it.live("go to waiting hosts in turn", () =>
    Effect.gen(function*() {
      const order: Array<string> = []
      const slow = { status: 200, afterMillis: 50 }
      const [crowded, lonely] = yield* Effect.all([
        makeWebhookReceiver({ script: [slow] }),
        makeWebhookReceiver({ script: [slow] })
      ])
      const elsewhere = lonely.url.replace("localhost", "127.0.0.1")
      const post = yield* client({ connections: 1 })
      const tell = (name: string, url: string) => post(url).pipe(Effect.map(() => order.push(name)))
      const crowd = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () => Effect.forkChild(tell("crowded", crowded.url)))
      yield* crowded.received(1)
      yield* tell("lonely", elsewhere)
      assert.isBelow(order.indexOf("lonely"), 4)
      yield* Effect.forEach(crowd, Fiber.join)
    }))
})

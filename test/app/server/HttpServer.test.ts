import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Fiber, Latch, Layer, Queue } from "effect"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as NodeDiagnostics from "node:diagnostics_channel"
import { Server } from "node:http"
import * as NodeNet from "node:net"
import { HttpServerLayer } from "../../../src/app/server/HttpServer.ts"
import { AppConfig } from "../../../src/platform/config/AppConfig.ts"
import { Draining } from "../../../src/platform/http/ready/Draining.ts"
import { QuickAnswers } from "../../../src/platform/http/ready/QuickAnswers.ts"
import { Overload } from "../../../src/platform/work/Overload.ts"
import { inPatience } from "../../support/waiting.ts"

const onFreePort = (settings: Readonly<Record<string, string>> = {}) =>
  HttpServerLayer.pipe(
    Layer.provide(QuickAnswers.layer.pipe(Layer.provideMerge(Draining.layer))),
    Layer.provide(Layer.mock(Overload)({ refuses: ({ method, path }) => method === "POST" && path === "/full" })),
    Layer.provide(AppConfig.layer),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ PORT: "0", ...settings })))
  )

/** The port of a server whose requests last until `release`. */
const serving = Effect.gen(function*() {
  const { address, serve } = yield* HttpServer.HttpServer
  const latch = yield* Latch.make()
  const arrived = yield* Queue.unbounded<void>()
  yield* serve(Effect.gen(function*() {
    yield* Queue.offer(arrived, undefined)
    yield* latch.await
    return HttpServerResponse.text("here")
  }))
  return {
    port: address._tag === "UnixPathAddress" ? 0 : address.port,
    arrived: Queue.take(arrived),
    release: latch.open
  }
})

const keepAlive = "GET / HTTP/1.1\r\nHost: here\r\n\r\n"

const get = "GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n"

const expectant = get.replace("Connection", "Expect: 100-continue\r\nConnection")

/** The port of a server that answers each request with its body. */
const echoing = Effect.gen(function*() {
  const { address, serve } = yield* HttpServer.HttpServer
  yield* serve(Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    return HttpServerResponse.text(yield* Effect.orDie(request.text))
  }))
  return address._tag === "UnixPathAddress" ? 0 : address.port
})

/** Each server from which a request comes has a millisecond for each request, and looks at its requests as often as before. */
const impatient = Effect.acquireRelease(
  Effect.sync(() => {
    const shorten = (message: unknown) => {
      if (typeof message !== "object" || message === null || !("server" in message)) return
      if (message.server instanceof Server) Object.assign(message.server, { headersTimeout: 1, requestTimeout: 1 })
    }
    NodeDiagnostics.subscribe("http.server.request.start", shorten)
    return shorten
  }),
  (shorten) => Effect.sync(() => void NodeDiagnostics.unsubscribe("http.server.request.start", shorten))
)

const ask = (port: number, request = get) =>
  Effect.acquireRelease(
    Effect.callback<NodeNet.Socket>((resume) => {
      const socket = NodeNet.connect(port, "127.0.0.1", () => {
        socket.write(request, () => resume(Effect.succeed(socket)))
      })
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

const answerOn = (socket: NodeNet.Socket) =>
  Effect.callback<string>((resume) => {
    let text = ""
    socket.on("data", (chunk) => {
      text += chunk.toString()
    })
    socket.on("close", () => resume(Effect.succeed(text)))
  })

describe("HTTP server", () => {
  it.live("requests received while the node starts are answered later, and a client that has left does no harm", () =>
    Effect.gen(function*() {
      const { address, serve } = yield* HttpServer.HttpServer
      const port = address._tag === "UnixPathAddress" ? 0 : address.port
      const [early, expecting, gone] = yield* Effect.all([ask(port), ask(port, expectant), ask(port)])
      const answered = yield* Effect.forkChild(Effect.forEach([early, expecting], answerOn, { concurrency: 2 }))
      gone.destroy()
      // Node refuses this before any handler exists, so by now the earlier requests have been read.
      assert.match(yield* Effect.flatMap(ask(port, "nonsense\r\n\r\n"), answerOn), /^HTTP\/1\.1 400 /)
      yield* serve(Effect.succeed(HttpServerResponse.text("here")))
      for (const answer of yield* inPatience(Fiber.join(answered), () => "no answer")) {
        assert.match(answer, /^HTTP\/1\.1 200 OK\r\n[^]*here$/)
      }
      assert.match(yield* Effect.flatMap(ask(port), answerOn), /^HTTP\/1\.1 200 OK\r\n/)
    }).pipe(Effect.scoped, Effect.provide(onFreePort())))

  it.live("a connection of an address that has as many as it may is answered 503 and closed", () =>
    Effect.gen(function*() {
      const { arrived, port, release } = yield* serving
      const held = yield* Effect.all([ask(port), ask(port)])
      yield* arrived
      yield* arrived
      const refused = yield* Effect.flatMap(ask(port), answerOn)
      assert.match(refused, /^HTTP\/1\.1 503 [^]*\r\nretry-after: 2\r\n[^]*"type":"service_unavailable","code":5030/)
      const answers = yield* Effect.forkChild(Effect.forEach(held, answerOn, { concurrency: 2 }))
      yield* release
      for (const answer of yield* Fiber.join(answers)) assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
      const later = yield* Effect.flatMap(ask(port), answerOn)
      assert.match(later, /^HTTP\/1\.1 200 OK\r\n/)
    }).pipe(Effect.scoped, Effect.provide(onFreePort({ HTTP_CONNECTIONS_PER_ADDRESS: "2" }))))

  it.live("a trusted proxy may have more connections than a client", () =>
    Effect.gen(function*() {
      const { port, release } = yield* serving
      yield* release
      const clients = yield* Effect.all(Array.from({ length: 3 }, () => ask(port)))
      for (const answer of yield* Effect.forEach(clients, answerOn, { concurrency: 3 })) {
        assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
      }
    }).pipe(
      Effect.scoped,
      Effect.provide(onFreePort({ HTTP_CONNECTIONS_PER_ADDRESS: "1", TRUSTED_PROXIES: "127.0.0.1" }))
    ))

  it.live("an overloaded node refuses a message with the documented answer before its routes see it, and goes on", () =>
    Effect.gen(function*() {
      const { port, release } = yield* serving
      yield* release
      const post = "POST /full?a=1 HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\n\r\nfull"
      const [refused = "", other = ""] = (yield* Effect.flatMap(ask(port, `${post}${get}`), answerOn)).split(
        /(?=HTTP\/1)/
      )
      const [head = "", body = ""] = refused.split("\r\n\r\n")
      assert.match(head, /^HTTP\/1\.1 503 /)
      assert.match(head, /\r\nretry-after: 2\r\n/)
      assert.notMatch(head, /connection: close/i)
      const { error, meta, success } = JSON.parse(body)
      assert.deepStrictEqual([success, error.type, error.code], [false, "service_unavailable", 5030])
      assert.match(error.doc_url, /\/docs\/guides\/errors#service_unavailable$/)
      assert.include(head, `x-request-id: ${meta.request_id}`)
      assert.match(other, /^HTTP\/1\.1 200 [^]*here$/)
    }).pipe(Effect.scoped, Effect.provide(onFreePort())))

  it.live("a new connection replaces the longest idle one, never one with a request in flight", () =>
    Effect.gen(function*() {
      const { arrived, port, release } = yield* serving
      const busy = yield* ask(port, keepAlive)
      yield* arrived
      const silent = yield* Effect.all(Array.from({ length: 9 }, () => ask(port, "")))
      const closed = yield* Effect.forkChild(Effect.forEach(silent.slice(0, 2), answerOn, { concurrency: 2 }))
      const newer = yield* Effect.all([ask(port), ask(port)])
      assert.deepStrictEqual(yield* Fiber.join(closed), ["", ""])
      yield* arrived
      yield* arrived
      assert.deepStrictEqual(
        [busy, ...silent.slice(2), ...newer].map(({ destroyed }) => destroyed),
        Array(10).fill(false)
      )
      yield* release
      for (const answer of yield* Effect.forEach(newer, answerOn, { concurrency: 2 })) {
        assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
      }
    }).pipe(Effect.scoped, Effect.provide(onFreePort({ HTTP_CONNECTIONS: "10" }))))

  it.live("a request that asks for another protocol is answered as each other one, and its connection stays open", () =>
    Effect.gen(function*() {
      const port = yield* echoing
      const head = "POST / HTTP/1.1\r\nHost: here\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
      const later = [`${head}Transfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n`, get]
      const socket = yield* ask(port, `${head}Content-Length: 3\r\n\r\none`)
      socket.on("data", () => void socket.write(later.shift() ?? ""))
      const answers = (yield* inPatience(answerOn(socket), () => later)).split(/(?=HTTP\/1)/)
      assert.deepStrictEqual(
        answers.map((answer) => answer.replace(/\r\n[^]*\r\n\r\n/, " ")),
        ["HTTP/1.1 200 OK one", "HTTP/1.1 200 OK two", "HTTP/1.1 200 OK "]
      )
    }).pipe(Effect.scoped, Effect.provide(onFreePort())))

  it.live("a request that asks for another protocol and sends no body is answered 408", () =>
    Effect.gen(function*() {
      yield* impatient
      const port = yield* echoing
      const slow = "POST / HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 9\r\n\r\n"
      const answer = yield* inPatience(Effect.flatMap(ask(port, slow), answerOn), () => "no answer")
      assert.match(answer, /^HTTP\/1\.1 408 /)
    }).pipe(Effect.scoped, Effect.provide(onFreePort())))
})

import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Fiber, Layer } from "effect"
import { HttpServer, HttpServerResponse } from "effect/http"
import * as NodeNet from "node:net"
import { HttpServerLayer } from "../../../src/app/server/HttpServer.ts"
import { AppConfig } from "../../../src/platform/config/AppConfig.ts"

const OnFreePort = HttpServerLayer.pipe(
  Layer.provide(AppConfig.layer),
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ PORT: "0" })))
)

const get = "GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n"

const ask = (port: number, request = get) =>
  Effect.callback<NodeNet.Socket>((resume) => {
    const socket = NodeNet.connect(port, "127.0.0.1", () => {
      socket.write(request, () => resume(Effect.succeed(socket)))
    })
  })

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
      const [early, gone] = yield* Effect.all([ask(port), ask(port)])
      const answered = yield* Effect.forkChild(answerOn(early))
      gone.destroy()
      // Node refuses this before any handler exists, so by now the earlier requests have been read.
      assert.match(yield* Effect.flatMap(ask(port, "nonsense\r\n\r\n"), answerOn), /^HTTP\/1\.1 400 /)
      yield* serve(Effect.succeed(HttpServerResponse.text("here")))
      assert.match(yield* Fiber.join(answered), /^HTTP\/1\.1 200 OK\r\n[^]*here$/)
      assert.match(yield* Effect.flatMap(ask(port), answerOn), /^HTTP\/1\.1 200 OK\r\n/)
    }).pipe(Effect.scoped, Effect.provide(OnFreePort)))
})

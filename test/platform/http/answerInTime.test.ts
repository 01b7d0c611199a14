import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { once } from "node:events"
import * as NodeHttp from "node:http"
import * as NodeNet from "node:net"
import { answerInTime, timeToRead } from "../../../src/platform/http/answerInTime.ts"
import { live } from "../../support/Service.ts"

/** More bytes than two sockets on one machine buffer. */
const bytes = Buffer.alloc(32 * 1024 * 1024, "0123456789")

const Host = NodeHttpServer.layer(() => NodeHttp.createServer(), { port: 0, host: "127.0.0.1" })

describe("a large response", () => {
  const serving = Effect.gen(function*() {
    const released = yield* Deferred.make<void>()
    const route = HttpRouter.add(
      "GET",
      "/file",
      Effect.gen(function*() {
        yield* Effect.addFinalizer(() => Deferred.succeed(released, undefined))
        return yield* answerInTime(
          HttpServerResponse.uint8Array(bytes, { contentType: "video/mp4", headers: { "x-here": "yes" } })
        )
      })
    )
    yield* Layer.build(HttpRouter.serve(route, { disableLogger: true, disableListenLog: true }))
    const { address } = yield* HttpServer.HttpServer
    const port = address._tag === "UnixPathAddress" ? 0 : address.port
    return { port, released: Deferred.await(released), isReleased: Deferred.isDone(released) }
  })

  it.effect("is complete, and its slot is free, after the client has read it", () =>
    Effect.gen(function*() {
      const { port, released } = yield* serving
      const answer = yield* live(Effect.promise(() => fetch(`http://127.0.0.1:${port}/file`)))
      assert.strictEqual(answer.headers.get("content-length"), String(bytes.length))
      assert.deepStrictEqual([answer.headers.get("content-type"), answer.headers.get("x-here")], ["video/mp4", "yes"])
      assert.isTrue(bytes.equals(Buffer.from(yield* Effect.promise(() => answer.arrayBuffer()))))
      yield* released
    }).pipe(Effect.provide(Host)))

  it.effect("is closed, and its slot is free, if the client does not read it in time", () =>
    Effect.scoped(Effect.gen(function*() {
      const { isReleased, port, released } = yield* serving
      const client = NodeNet.connect(port, "127.0.0.1")
      yield* Effect.addFinalizer(() => Effect.sync(() => client.destroy()))
      client.write("GET /file HTTP/1.1\r\nHost: localhost\r\n\r\n")
      yield* Effect.promise(() => once(client, "readable"))
      const allowed = timeToRead(bytes.length)
      yield* TestClock.adjust(allowed)
      yield* released
      client.resume()
      yield* Effect.promise(() => once(client, "close"))
      assert.isBelow(client.bytesRead, bytes.length)
      assert.isTrue(yield* isReleased)
    })).pipe(Effect.provide(Host)))
})

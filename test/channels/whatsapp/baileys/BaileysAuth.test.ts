import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import * as NodeNet from "node:net"
import { durableAgent } from "../../../../src/channels/whatsapp/baileys/BaileysAuth.ts"

/** A connection to a server that records its input, with the promise that the connection waits for. */
const openConnection = Effect.gen(function*() {
  const server = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const listening = NodeNet.createServer().listen(0, "127.0.0.1")
      await once(listening, "listening")
      return listening
    }),
    (listening) => Effect.promise(() => new Promise((resolve) => listening.close(resolve)))
  )
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const durable = Promise.withResolvers<void>()
  const accepting = once(server, "connection")
  const connection = durableAgent(`ws://127.0.0.1:${port}/`, () => durable.promise)
    .createConnection({ host: "127.0.0.1", port })
  // The type of the event's arguments.
  const [peer] = (yield* Effect.promise(() => accepting)) as [NodeNet.Socket]
  if (!connection) return yield* Effect.die("no connection")
  let got = ""
  peer.on("data", (bytes) => {
    got += String(bytes)
  })
  connection.on("error", () => {})
  const ended = once(peer, "close")
  return { durable, connection, ended, got: () => got }
})

describe("durableAgent", () => {
  it.live("holds back bytes until the ratchet steps are durable, even if the connection ends meanwhile", () =>
    Effect.gen(function*() {
      const { durable, ended, got, connection } = yield* openConnection
      connection.write("one ")
      connection.write("two")
      connection.end()
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      assert.isAbove(connection.writableLength, 0)
      assert.strictEqual(got(), "")
      durable.resolve()
      yield* Effect.promise(() => ended)
      assert.strictEqual(got(), "one two")
    }))

  it.live("sends nothing after the ratchet steps failed to become durable", () =>
    Effect.gen(function*() {
      const { durable, ended, got, connection } = yield* openConnection
      connection.write("one ")
      connection.write("two")
      connection.end()
      durable.reject(new Error("another owner"))
      yield* Effect.promise(() => ended)
      assert.strictEqual(got(), "")
    }))
})

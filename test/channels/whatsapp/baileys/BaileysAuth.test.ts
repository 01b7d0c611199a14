import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import * as NodeNet from "node:net"
import { durableLines } from "../../../../src/channels/whatsapp/baileys/BaileysAuth.ts"

/** A line to a server that keeps what it gets, with the promise that the line waits for. */
const makeLine = Effect.gen(function*() {
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
  const line = durableLines(`ws://127.0.0.1:${port}/`, () => durable.promise)
    .createConnection({ host: "127.0.0.1", port })
  // What the event is of.
  const [peer] = (yield* Effect.promise(() => accepting)) as [NodeNet.Socket]
  if (!line) return yield* Effect.die("there is no line")
  let got = ""
  peer.on("data", (bytes) => {
    got += String(bytes)
  })
  line.on("error", () => {})
  const ended = once(peer, "close")
  return { durable, line, ended, got: () => got }
})

describe("a line to WhatsApp", () => {
  it.live("keeps its bytes until what they were made of is durable, also when it is ended meanwhile", () =>
    Effect.gen(function*() {
      const { durable, ended, got, line } = yield* makeLine
      line.write("one ")
      line.write("two")
      line.end()
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      assert.isAbove(line.writableLength, 0)
      assert.strictEqual(got(), "")
      durable.resolve()
      yield* Effect.promise(() => ended)
      assert.strictEqual(got(), "one two")
    }))

  it.live("never lets them out when that could not be made durable", () =>
    Effect.gen(function*() {
      const { durable, ended, got, line } = yield* makeLine
      line.write("one ")
      line.write("two")
      line.end()
      durable.reject(new Error("another owner"))
      yield* Effect.promise(() => ended)
      assert.strictEqual(got(), "")
    }))
})

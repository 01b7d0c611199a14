import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { once } from "node:events"
import * as NodeNet from "node:net"
import * as BaileysSocket from "../../../../src/channels/whatsapp/baileys/BaileysSocket.ts"
import { WhatsAppSocket } from "../../../../src/channels/whatsapp/socket/WhatsAppSocket.ts"
import { idleTraffic } from "../../../support/idleTraffic.ts"
import { memoryCredentials } from "../../../support/memoryCredentials.ts"

/** A server that accepts connections and sends nothing. */
const silentServer = Effect.acquireRelease(
  Effect.promise(async () => {
    const lines = new Set<NodeNet.Socket>()
    const server = NodeNet.createServer((line) => lines.add(line)).listen(0, "127.0.0.1")
    await once(server, "listening")
    return { lines, server }
  }),
  ({ lines, server }) =>
    Effect.promise(() =>
      new Promise((resolve) => {
        for (const line of lines) line.destroy()
        server.close(resolve)
      })
    )
)

const options = {
  isPaired: false,
  credentials: memoryCredentials().credentials,
  traffic: idleTraffic
}

describe("closeOnSilence", () => {
  it.effect("closes a connection whose server sends nothing for 20 seconds", () =>
    Effect.gen(function*() {
      const { server } = yield* silentServer
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const accepted = once(server, "connection")
      const open = Effect.flatMap(WhatsAppSocket, (sockets) => sockets.open(options))
      const socket = yield* Effect.provide(
        open,
        BaileysSocket.layer(Effect.succeed({ url: `ws://127.0.0.1:${port}/` }))
      )
      const event = yield* Effect.forkChild(socket.next)
      yield* Effect.promise(() => accepted)
      yield* TestClock.adjust("19 seconds")
      assert.isUndefined(event.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(event), {
        _tag: "Closed",
        cause: "lost",
        detail: "closed: the server did not answer"
      })
    }))
})

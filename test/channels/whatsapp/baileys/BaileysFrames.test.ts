import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { once } from "node:events"
import * as NodeNet from "node:net"
import { layerBaileys } from "../../../../src/channels/whatsapp/baileys/BaileysSocket.ts"
import { WhatsAppSocket } from "../../../../src/channels/whatsapp/socket/WhatsAppSocket.ts"
import { WhatsAppSessionId } from "../../../../src/values/Ids.ts"

/** A server that takes connections and says nothing. */
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
  credentials: {
    owned: { id: WhatsAppSessionId.make(1), epoch: 1 },
    get: () => Effect.succeed(new Map()),
    set: () => Effect.void
  },
  traffic: {
    onOpened: () => Effect.void,
    onStanza: () => {},
    onPeople: () => {},
    sentMessage: () => Effect.undefined,
    groupMetadata: () => Effect.undefined
  }
}

describe("a connection to WhatsApp", () => {
  it.effect("ends when the server has said nothing for 20 seconds", () =>
    Effect.gen(function*() {
      const { server } = yield* silentServer
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const accepted = once(server, "connection")
      const open = Effect.flatMap(WhatsAppSocket, (sockets) => sockets.open(options))
      const socket = yield* Effect.provide(open, layerBaileys(Effect.succeed({ url: `ws://127.0.0.1:${port}/` })))
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

import { assert, describe, it } from "@effect/vitest"
import type { WASocket } from "@whiskeysockets/baileys"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { EventEmitter, once } from "node:events"
import * as NodeNet from "node:net"
import { keepMessageOrder } from "../../../../src/channels/whatsapp/baileys/BaileysFrames.ts"
import * as BaileysSocket from "../../../../src/channels/whatsapp/baileys/BaileysSocket.ts"
import * as StanzaRoom from "../../../../src/channels/whatsapp/baileys/StanzaRoom.ts"
import { WhatsAppSocket } from "../../../../src/channels/whatsapp/socket/WhatsAppSocket.ts"
import { AccountId } from "../../../../src/values/Ids.ts"
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
      const open = Effect.flatMap(WhatsAppSocket, (sockets) => sockets.open({ account: AccountId.make(1), ...options }))
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

describe("keepMessageOrder", () => {
  /** A socket whose messages wait until the test lets the library go on, in room for two of them. */
  const start = () => {
    const ws = new EventEmitter()
    const ended: Array<string> = []
    const handled: Array<number> = []
    const waiting: Array<(outcome: Promise<void>) => void> = []
    ws.on("CB:message", ({ attrs }: { readonly attrs: { readonly id: string } }) => {
      handled.push(Number(attrs.id))
      return new Promise<void>((resolve) => waiting.push(resolve))
    })
    // Only the events and the end of the socket are used.
    const socket = { ws, end: ({ message }: Error) => void ended.push(message) } as unknown as WASocket
    const stanza = (id: number) => ({ tag: "message", attrs: { id: String(id) }, content: new Uint8Array(500) })
    const bytes = StanzaRoom.bytesOf(stanza(0))
    const room = StanzaRoom.make({ total: 2 * bytes, share: 2 * bytes })
    keepMessageOrder(socket, room.connection())
    const receive = (id: number) => ws.emit("CB:message", stanza(id))
    const settle = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    const finish = (outcome: Promise<void>) => Effect.andThen(Effect.sync(() => waiting.shift()?.(outcome)), settle)
    return { ended, finish, handled, receive, room, settle }
  }

  it.effect("handles one message after the other, and frees the room of each, also of one that fails", () =>
    Effect.gen(function*() {
      const { ended, finish, handled, receive, settle } = start()
      for (let first = 1; first < 20; first += 2) {
        receive(first)
        receive(first + 1)
        yield* settle
        assert.strictEqual(handled.at(-1), first)
        yield* finish(Promise.resolve())
        yield* finish(Promise.reject(new Error("cannot be decrypted")))
      }
      assert.deepStrictEqual(handled, Array.from({ length: 20 }, (_, index) => index + 1))
      assert.deepStrictEqual(ended, [])
    }))

  it.effect("ends a connection once whose messages have no room, handles no further one, and gives its room to others", () =>
    Effect.gen(function*() {
      const { ended, finish, handled, receive, room, settle } = start()
      receive(1)
      yield* settle
      for (const id of [2, 3, 4]) receive(id)
      assert.deepStrictEqual(ended, ["the received messages that wait have no room"])
      const other = room.connection()
      assert.deepStrictEqual([other.take(1), other.take(1)], [true, false])
      yield* finish(Promise.resolve())
      assert.deepStrictEqual(handled, [1])
      assert.isTrue(other.take(1))
    }))
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as BaileysSocket from "../../../../src/channels/whatsapp/baileys/BaileysSocket.ts"
import {
  type SessionSocket,
  type SocketEvent,
  WhatsAppSocket
} from "../../../../src/channels/whatsapp/socket/WhatsAppSocket.ts"
import { AccountId } from "../../../../src/values/Ids.ts"
import { idleTraffic } from "../../../support/idleTraffic.ts"
import { memoryCredentials } from "../../../support/memoryCredentials.ts"
import { readUntil } from "../../../support/readUntil.ts"
import { ann, bob, makeSimulator } from "../../../support/simulatedSession.ts"
import { eventually } from "../../../support/waiting.ts"

/** Waits for the next event with this tag. */
const until = (socket: SessionSocket, tag: SocketEvent["_tag"]) =>
  eventually(socket.next, (event) => event._tag === tag)

describe("BaileysSocket", () => {
  it("the live address is WhatsApp's own", () => {
    assert.strictEqual(BaileysSocket.liveUrl, "wss://web.whatsapp.com/ws/chat")
  })

  it.live("sends nothing after keys could not be read, so that the undecrypted message waits for the next connection", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { controls } = simulator
      const { credentials, state } = memoryCredentials()
      const open = (isPaired: boolean) =>
        Effect.flatMap(
          WhatsAppSocket,
          (sockets) => sockets.open({ account: AccountId.make(1), credentials, isPaired, traffic: idleTraffic })
        ).pipe(
          Effect.provide(BaileysSocket.layer(Effect.succeed({ url: simulator.url })))
        )
      yield* Effect.scoped(Effect.gen(function*() {
        const socket = yield* open(false)
        const code = yield* until(socket, "Code")
        controls.scan(code._tag === "Code" ? code.text : "", ann)
        yield* until(socket, "Closed")
      }))
      const retries = () => controls.counters().phones[bob]?.retriesAnswered ?? 0
      yield* Effect.scoped(Effect.gen(function*() {
        const socket = yield* open(true)
        yield* until(socket, "Opened")
        // The history has arrived.
        yield* readUntil(() => controls.sessions()[0]?.waiting, (waiting) => waiting === 0)
        state.isAway = true
        yield* Effect.promise(() => controls.sendText(bob, ann, { text: "hello" }))
        yield* until(socket, "Closed")
        yield* readUntil(() => controls.sessions()[0]?.isConnected === false || retries() > 0, (is) => is)
        assert.strictEqual(retries(), 0)
        assert.strictEqual(controls.sessions()[0]?.waiting, 1)
      }))
      state.isAway = false
      const before = state.journaled.length
      yield* open(true)
      yield* readUntil(() => state.journaled.length, (count) => count > before)
      assert.strictEqual(retries(), 0)
    }))

  it.live("stores the credentials when it closes if the end of the connection interrupted their write", () =>
    Effect.gen(function*() {
      const { controls, url } = yield* makeSimulator()
      const { credentials } = memoryCredentials()
      const isCreds = (entries: Parameters<typeof credentials.set>[0]) => entries.some(({ type }) => type === "creds")
      let writes = 0
      const stuck: typeof credentials = {
        ...credentials,
        set: (entries, messages) =>
          isCreds(entries) && writes++ === 0 ? Effect.never : credentials.set(entries, messages)
      }
      yield* Effect.scoped(Effect.gen(function*() {
        const sockets = yield* WhatsAppSocket
        const socket = yield* sockets.open({
          account: AccountId.make(1),
          credentials: stuck,
          isPaired: false,
          traffic: idleTraffic
        })
        const code = yield* until(socket, "Code")
        controls.scan(code._tag === "Code" ? code.text : "", ann)
        const coming = yield* Effect.forkChild(Effect.forever(socket.next))
        yield* readUntil(() => writes, (count) => count === 1)
        yield* Fiber.interrupt(coming)
      })).pipe(Effect.provide(BaileysSocket.layer(Effect.succeed({ url }))))
      assert.strictEqual((yield* credentials.get("creds", [""])).size, 1)
    }))
})

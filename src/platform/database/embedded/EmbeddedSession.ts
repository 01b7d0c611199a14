import { Deferred, Effect } from "effect"
import * as NodeNet from "node:net"

/**
 * The server's answer to a new session. `ready`: it accepts sessions, or is full. `busy`: it starts, recovers or shuts
 * down. `down`: no server answers.
 */
export type ServerState = "ready" | "busy" | "down"

/** One connection, open until its scope closes. */
export interface EmbeddedSession {
  readonly state: ServerState
  /** Ends when the server closes the connection, because it stopped or died. */
  readonly closed: Effect.Effect<void>
}

const answerWithinMillis = 2_000

/** Connects to the server's socket and reads its first answer. */
export const openSession = Effect.fn("EmbeddedSession.openSession")(function*(path: string) {
  const closed = yield* Deferred.make<void>()
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => NodeNet.connect({ path })),
    (socket) => Effect.sync(() => socket.destroySoon())
  )
  const state = yield* Effect.callback<ServerState>((resume) => {
    const answer = (state: ServerState) => resume(Effect.succeed(state))
    socket.once("connect", () => socket.write(startupPacket))
    socket.once("data", (bytes) => answer(stateIn(bytes)))
    socket.on("error", (cause) => answer("code" in cause && cause.code === "EAGAIN" ? "busy" : "down"))
    socket.once("close", () => {
      answer("down")
      Deferred.doneUnsafe(closed, Effect.void)
    })
    // The server accepted the connection, so starting another one is useless.
    socket.setTimeout(answerWithinMillis, () => answer("busy"))
  })
  socket.setTimeout(0)
  socket.resume()
  return { state, closed: Deferred.await(closed) } satisfies EmbeddedSession
})

const startupPacket = (() => {
  const body = Buffer.from("user\0postgres\0database\0postgres\0application_name\0embedded-watch\0\0")
  const head = Buffer.alloc(8)
  head.writeInt32BE(8 + body.length, 0)
  head.writeInt32BE(0x30000, 4)
  return Buffer.concat([head, body])
})()

/** 57P03 is cannot_connect_now. Any other error message comes from a working server. */
const stateIn = (bytes: Buffer): ServerState =>
  bytes[0] === "E".charCodeAt(0) && bytes.includes("C57P03\0") ? "busy" : "ready"

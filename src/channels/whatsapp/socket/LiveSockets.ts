import { Context, Deferred, Effect, Layer, type Scope } from "effect"
import type { WhatsAppSessionId } from "../../../values/Ids.ts"
import type { SessionSocket } from "./WhatsAppSocket.ts"

interface Live {
  readonly socket: SessionSocket
  readonly ended: Deferred.Deferred<void>
}

/** The logged-in connections of this node. */
export class LiveSockets extends Context.Service<LiveSockets, {
  readonly get: (id: WhatsAppSessionId) => SessionSocket | undefined
  /** Until the scope ends. */
  readonly register: (id: WhatsAppSessionId, socket: SessionSocket) => Effect.Effect<void, never, Scope.Scope>
  /**
   * Runs a request over the session's connection. Undefined if there is no connection, or if it ends before the answer:
   * the library leaves such a request unanswered for ever.
   */
  readonly ask: <A, E>(
    id: WhatsAppSessionId,
    question: (socket: SessionSocket) => Effect.Effect<A, E>
  ) => Effect.Effect<A | undefined, E>
}>()("messaging-service/channels/whatsapp/socket/LiveSockets") {
  static readonly layer = Layer.sync(LiveSockets, () => {
    const sockets = new Map<WhatsAppSessionId, Live>()
    return LiveSockets.of({
      get: (id) => sockets.get(id)?.socket,
      register: Effect.fnUntraced(function*(id, socket) {
        const ended = yield* Deferred.make<void>()
        const live = { socket, ended }
        yield* Effect.acquireRelease(
          Effect.sync(() => {
            sockets.set(id, live)
          }),
          () =>
            Effect.suspend(() => {
              if (sockets.get(id) === live) sockets.delete(id)
              return Deferred.succeed(ended, undefined)
            })
        )
      }),
      ask: (id, question) =>
        Effect.suspend(() => {
          const live = sockets.get(id)
          return live === undefined
            ? Effect.undefined
            : Effect.raceFirst(question(live.socket), Effect.as(Deferred.await(live.ended), undefined))
        })
    })
  })
}

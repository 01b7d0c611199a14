import { Context, Deferred, Effect, Layer, type Scope } from "effect"
import type { WhatsAppSessionId } from "../../../values/Ids.ts"
import type { SessionSocket } from "./WhatsAppSocket.ts"

interface Live {
  readonly socket: SessionSocket
  readonly ended: Deferred.Deferred<void>
}

/** The connections of this node that are logged in, for those who have something to ask over them. */
export class LiveSockets extends Context.Service<LiveSockets, {
  readonly get: (id: WhatsAppSessionId) => SessionSocket | undefined
  /** Until the scope ends. */
  readonly register: (id: WhatsAppSessionId, socket: SessionSocket) => Effect.Effect<void, never, Scope.Scope>
  /**
   * Asks over the session's connection; undefined where there is none, or where it ends first: the library leaves a
   * question unanswered when its connection ends.
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

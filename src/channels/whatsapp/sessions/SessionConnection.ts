import { Clock, DateTime, Deferred, Duration, Effect, Fiber, Option, type Scope } from "effect"
import { fromDateTime } from "../../../values/Timestamp.ts"
import { CredentialStore, type SessionTaken } from "../credentials/CredentialStore.ts"
import type { ShownCode } from "../model/Session.ts"
import type { CloseCause } from "../model/SessionState.ts"
import { MessageTraffic, type SessionSocket, type SocketEvent, WhatsAppSocket } from "../socket/WhatsAppSocket.ts"
import { qrCode } from "./qrCode.ts"
import { stableAfter } from "./Reconnect.ts"
import type { OwnedRow } from "./SessionRow.ts"

/** How far a connection is, for those who wait for it. */
export type Phase =
  | { readonly _tag: "Resting" }
  /** Whoever has the session now goes on with it. */
  | { readonly _tag: "Moved" }
  | { readonly _tag: "Waiting" }
  | { readonly _tag: "Connecting" }
  | { readonly _tag: "Code"; readonly code: ShownCode; readonly until: number }
  | { readonly _tag: "Connected" }

/** What a connection needs of its actor. */
export interface ConnectionOptions {
  readonly row: OwnedRow
  readonly show: (phase: Phase) => Effect.Effect<void>
  /** The connection while there is one. */
  readonly use: (socket: SessionSocket) => Effect.Effect<void, never, Scope.Scope>
  /** Ends it for another one. */
  readonly renew: Deferred.Deferred<void>
}

/** Until a code, a login, or the restart after the scan. A connection that says nothing for so long is none. */
const patience = Duration.toMillis("30 seconds")

/** For so long somebody may scan; six codes of the server fill it. */
const codeWindow = Duration.toMillis("160 seconds")

const lifeOfCode = (shown: number) => shown === 1 ? 60_000 : 20_000

/** One connection from its beginning to its end, with a deadline for each of its phases; answers why it ended. */
export const makeSessionConnection = Effect.gen(function*() {
  const whatsapp = yield* WhatsAppSocket
  const store = yield* CredentialStore
  const messages = yield* MessageTraffic

  return (options: ConnectionOptions): Effect.Effect<CloseCause | "renew", SessionTaken> => {
    const { row, show } = options
    let codes = 0
    let windowEnds = 0
    let isOpen = false
    /** Undefined when it may last. */
    let deadline: number | undefined

    const onCode = Effect.fnUntraced(function*(text: string) {
      const now = yield* Clock.currentTimeMillis
      codes++
      if (codes === 1) windowEnds = now + codeWindow
      const until = Math.min(now + lifeOfCode(codes), windowEnds)
      deadline = windowEnds
      const qr_code = yield* qrCode(text)
      yield* row.tellCode(qr_code)
      const expires_at = fromDateTime(DateTime.makeUnsafe(until))
      yield* show({ _tag: "Code", code: { qr_code, expires_at, text }, until: windowEnds })
    })

    /** Why the connection has ended; undefined while it goes on. */
    const onEvent = Effect.fnUntraced(function*(event: SocketEvent) {
      const now = yield* Clock.currentTimeMillis
      switch (event._tag) {
        case "Code":
          return yield* Effect.as(onCode(event.text), undefined)
        case "Paired":
          deadline = now + patience
          yield* row.apply(event)
          return yield* Effect.as(show({ _tag: "Connecting" }), undefined)
        case "Opened":
          deadline = now + Duration.toMillis(stableAfter)
          isOpen = true
          yield* row.apply(event, event.phoneNumber)
          yield* Effect.annotateLogs(Effect.logDebug("a WhatsApp session is connected"), { session: row.id })
          return yield* Effect.as(show({ _tag: "Connected" }), undefined)
        case "Closed":
          yield* Effect.annotateLogs(Effect.logDebug(`a WhatsApp connection ended: ${event.detail}`), {
            session: row.id
          })
          return event.cause === "taken" ? yield* row.taken : event.cause
      }
    })

    const onDeadline = Effect.suspend(() => {
      if (!isOpen) return Effect.succeed<CloseCause>(codes > 0 && !row.state().is_paired ? "codes_used_up" : "lost")
      deadline = undefined
      return Effect.as(row.apply({ _tag: "Stable" }), undefined)
    })

    return Effect.scoped(Effect.gen(function*() {
      yield* show({ _tag: "Connecting" })
      deadline = (yield* Clock.currentTimeMillis) + patience
      const owned = yield* row.begin
      const credentials = yield* store.open(owned).pipe(Effect.catchTag("SealBroken", Effect.die))
      const traffic = yield* messages.attach(owned)
      const opening = whatsapp.open({ credentials, isPaired: row.state().is_paired, traffic })
      const socket = Option.getOrUndefined(yield* Effect.timeoutOption(opening, patience))
      if (socket === undefined) return "lost"
      yield* options.use(socket)
      const renewed = Effect.as(Deferred.await(options.renew), "renew" as const)
      // Apart from the deadline, which would lose what comes in the same moment.
      let coming = yield* Effect.forkScoped(socket.next)
      while (true) {
        const left = deadline === undefined ? Duration.infinity : deadline - (yield* Clock.currentTimeMillis)
        const event = yield* Effect.raceFirst(renewed, Effect.timeoutOption(Fiber.join(coming), left))
        if (event === "renew") return event
        if (Option.isSome(event)) coming = yield* Effect.forkScoped(socket.next)
        const end = Option.isNone(event) ? yield* onDeadline : yield* onEvent(event.value)
        if (end !== undefined) return end
        if (Option.isSome(event) && event.value._tag === "Opened") yield* traffic.onOpened(socket)
      }
    }))
  }
})

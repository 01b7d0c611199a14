import { Clock, DateTime, Deferred, Duration, Effect, Fiber, Option, type Scope } from "effect"
import { monotonicMillis } from "../../../platform/schedule/monotonic.ts"
import { fromDateTime } from "../../../values/Timestamp.ts"
import { CredentialStore, type OwnershipLost } from "../credentials/CredentialStore.ts"
import type { ShownCode } from "../model/Session.ts"
import type { CloseCause } from "../model/SessionState.ts"
import { MessageTraffic } from "../socket/MessageTraffic.ts"
import { type SessionSocket, type SocketEvent, WhatsAppSocket } from "../socket/WhatsAppSocket.ts"
import { stableAfter } from "./Reconnect.ts"
import type { OwnedRow } from "./SessionRow.ts"

/** The progress of a session's connection. */
export type Phase =
  | { readonly _tag: "Idle" }
  /** Another node owns the session and continues. */
  | { readonly _tag: "Moved" }
  | { readonly _tag: "BackingOff" }
  | { readonly _tag: "Connecting" }
  | { readonly _tag: "Code"; readonly code: ShownCode; readonly until: number }
  | { readonly _tag: "Connected" }

interface Options {
  readonly row: OwnedRow
  readonly show: (phase: Phase) => Effect.Effect<void>
  /** Publishes the socket until the scope ends. */
  readonly share: (socket: SessionSocket) => Effect.Effect<void, never, Scope.Scope>
  /** Completing it ends the connection, so that a new one can follow at once. */
  readonly renew: Deferred.Deferred<void>
}

/** The longest wait for a code, a login, or the restart after the scan. */
const phaseTimeout = Duration.toMillis("30 seconds")

/** How long a person may scan. WhatsApp's six codes fill this time. */
const codeWindow = Duration.toMillis("160 seconds")

/** WhatsApp replaces the first code after 60 seconds and each later one after 20. */
const codeLifetime = (count: number) => count === 1 ? 60_000 : 20_000

/** The picture of a code as a data URL of a PNG. */
const pictureOf = (text: string): Effect.Effect<string> =>
  Effect.promise(() =>
    import("qrcode").then(({ toDataURL }) => toDataURL(text, { errorCorrectionLevel: "M", margin: 2, scale: 5 }))
  )

/** Runs one connection from start to end, with a deadline for each phase, and answers with the reason of its end. */
export const make = Effect.gen(function*() {
  const whatsapp = yield* WhatsAppSocket
  const store = yield* CredentialStore
  const messages = yield* MessageTraffic

  return ({ renew, row, share, show }: Options): Effect.Effect<CloseCause | "renew", OwnershipLost> => {
    let codes = 0
    let windowEnds = 0
    let isOpen = false
    /** Undefined for a connection without a time limit. */
    let deadline: number | undefined

    const onCode = Effect.fnUntraced(function*(text: string) {
      const now = yield* Clock.currentTimeMillis
      codes++
      if (codes === 1) windowEnds = now + codeWindow
      const until = Math.min(now + codeLifetime(codes), windowEnds)
      deadline = (yield* monotonicMillis) + windowEnds - now
      const qr_code = yield* pictureOf(text)
      yield* row.publishCode(qr_code)
      const expires_at = fromDateTime(DateTime.makeUnsafe(until))
      yield* show({ _tag: "Code", code: { qr_code, expires_at, text }, until: windowEnds })
    })

    /** The reason of the connection's end, or undefined while it goes on. */
    const onEvent = Effect.fnUntraced(function*(event: SocketEvent) {
      const now = yield* monotonicMillis
      switch (event._tag) {
        case "Code":
          return yield* Effect.as(onCode(event.text), undefined)
        case "Paired":
          deadline = now + phaseTimeout
          yield* row.apply(event)
          return yield* Effect.as(show({ _tag: "Connecting" }), undefined)
        case "Opened":
          deadline = now + Duration.toMillis(stableAfter)
          isOpen = true
          yield* row.apply(event, event.phoneNumber)
          yield* Effect.annotateLogs(Effect.logDebug("WhatsApp session connected"), { session: row.id })
          return yield* Effect.as(show({ _tag: "Connected" }), undefined)
        case "Closed":
          yield* Effect.annotateLogs(Effect.logDebug(`WhatsApp connection closed: ${event.detail}`), {
            session: row.id
          })
          return event.cause === "ownership_lost" ? yield* row.ownershipLost : event.cause
      }
    })

    const onDeadline = Effect.suspend(() => {
      if (!isOpen) return Effect.succeed<CloseCause>(codes > 0 && !row.state().is_paired ? "codes_expired" : "lost")
      deadline = undefined
      return Effect.as(row.apply({ _tag: "Stable" }), undefined)
    })

    return Effect.scoped(Effect.gen(function*() {
      yield* show({ _tag: "Connecting" })
      const owned = yield* row.nextEpoch
      const credentials = yield* store.open(owned).pipe(Effect.catchTag("SealBroken", Effect.die))
      const traffic = yield* messages.attach(owned, credentials.dataKey)
      // Slow statements do not count as silence of the server.
      deadline = (yield* monotonicMillis) + phaseTimeout
      const opening = whatsapp.open({ account: row.account, credentials, isPaired: row.state().is_paired, traffic })
      const socket = Option.getOrUndefined(yield* Effect.timeoutOption(opening, phaseTimeout))
      if (socket === undefined) return "lost"
      yield* share(socket)
      const renewed = Effect.as(Deferred.await(renew), "renew" as const)
      // In its own fiber: a timeout of `socket.next` itself could lose an event that arrives at the same moment.
      let coming = yield* Effect.forkScoped(socket.next)
      while (true) {
        const left = deadline === undefined ? Duration.infinity : deadline - (yield* monotonicMillis)
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

import { Cause, Deferred, Duration, Effect, Exit, Queue, Schema, SubscriptionRef } from "effect"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { SessionTaken } from "../credentials/CredentialStore.ts"
import type { SessionNext } from "../model/SessionState.ts"
import type { SessionSocket } from "../socket/WhatsAppSocket.ts"
import { pauseAfter, replacedPause } from "./Reconnect.ts"
import { makeSessionConnection, type Phase } from "./SessionConnection.ts"
import type { OwnedRow } from "./SessionRow.ts"

/** What is seen of a session from outside its fiber; `tries` counts the connections that were begun. */
export interface View {
  readonly phase: Phase
  readonly tries: number
}

/** A connection under way; `renew` ends it for another one. */
interface Live {
  readonly socket: SessionSocket
  readonly renew: Deferred.Deferred<void>
}

/** There is another owner, or will be. */
const isMoved = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.isFailure(exit) &&
  (Cause.hasInterruptsOnly(exit.cause) || Schema.is(SessionTaken)(Cause.squash(exit.cause)))

/** The connections of one session, one after the other, for as long as its owner is the owner. */
export const makeSessionRun = Effect.fnUntraced(function*(keepAwake: (awake: boolean) => Effect.Effect<void>) {
  const settings = yield* AppConfig
  const connection = yield* makeSessionConnection
  const view = yield* SubscriptionRef.make<View>({ phase: { _tag: "Resting" }, tries: 0 })
  const asks = yield* Queue.sliding<"Asked" | "TryDue">(1)
  let live: Live | undefined

  const show = (phase: Phase) =>
    Effect.andThen(
      // Whoever asked before has it now; an old wish must not begin anything later.
      phase._tag === "Code" || phase._tag === "Connected" ? Queue.clear(asks) : Effect.void,
      SubscriptionRef.update(view, ({ tries }): View => ({
        phase,
        tries: phase._tag === "Connecting" ? tries + 1 : tries
      }))
    )

  const connectOnce = Effect.fnUntraced(function*(row: OwnedRow) {
    const renew = yield* Deferred.make<void>()
    const hold = (held: Live | undefined) =>
      Effect.sync(() => {
        live = held
      })
    const use = (socket: SessionSocket) =>
      Effect.asVoid(Effect.acquireRelease(hold({ socket, renew }), () => hold(undefined)))
    return yield* connection({ row, show, use, renew })
  })

  /** Until somebody asks. */
  const rest = Effect.fnUntraced(function*(row: OwnedRow) {
    yield* show({ _tag: "Resting" })
    yield* keepAwake(false)
    const ask = yield* Queue.take(asks)
    yield* keepAwake(true)
    return (yield* row.apply({ _tag: ask })).next
  })

  const pauseOf = (next: SessionNext, row: OwnedRow) =>
    next._tag !== "Connect" || next.pause === "none"
      ? Effect.succeed(Duration.zero)
      : next.pause === "replaced"
      ? Effect.succeed(replacedPause)
      : pauseAfter(settings, row.state().failures)

  const run = Effect.fnUntraced(function*(row: OwnedRow) {
    let next: SessionNext = row.isOn ? { _tag: "Connect", pause: "none" } : { _tag: "Rest", tryAgain: false }
    if (row.isOn) yield* keepAwake(true)
    while (true) {
      if (next._tag === "Rest") {
        next = yield* rest(row)
        continue
      }
      const pause = yield* pauseOf(next, row)
      if (Duration.toMillis(pause) > 0) {
        yield* show({ _tag: "Waiting" })
        // Somebody who asks cuts a pause short.
        yield* Effect.timeoutOption(Queue.take(asks), pause)
      }
      const cause = yield* connectOnce(row)
      next = cause === "renew"
        ? { _tag: "Connect", pause: "none" }
        : (yield* row.apply({ _tag: "Closed", cause })).next
    }
  }, (effect) => Effect.onExit(effect, (exit) => show({ _tag: isMoved(exit) ? "Moved" : "Resting" })))

  return {
    run,
    view,
    live: () => live,
    ask: (ask: "Asked" | "TryDue") => Effect.asVoid(Queue.offer(asks, ask))
  }
})

import { Cause, DateTime, Deferred, Effect, FiberHandle, Option, Semaphore, Stream, SubscriptionRef } from "effect"
import type { WhatsAppSessionId } from "../../../values/Ids.ts"
import { fromDateTime } from "../../../values/Timestamp.ts"
import { makeLatestOnly } from "./LatestOnly.ts"
import type { Phase } from "./SessionConnection.ts"
import type { NoCode } from "./SessionEntity.ts"
import { makeSessionRow, type OwnedRow } from "./SessionRow.ts"
import { makeSessionRun } from "./SessionRun.ts"

const noCode = (why: NoCode["why"]): NoCode => ({ _tag: "NoCode", why })

/** What a wait has come to where it has not come to a code. */
const whyNot = (phase: Phase | undefined): NoCode["why"] =>
  phase?._tag === "Connected" ? "connected" : phase?._tag === "Moved" ? "moved" : "unavailable"

const answer = (phase: Phase | undefined) =>
  phase?._tag === "Code" ? { ...phase.code, _tag: "Code" as const } : noCode(whyNot(phase))

/** Runs one session for as long as its scope; `keepAwake` says whether it shall come back by itself on another node. */
export const makeSessionKeeper = Effect.fnUntraced(function*(
  id: WhatsAppSessionId,
  keepAwake: (awake: boolean) => Effect.Effect<void>
) {
  const take = yield* makeSessionRow
  const session = yield* makeSessionRun(keepAwake)
  const fiber = yield* FiberHandle.make<void>()
  const starting = yield* Semaphore.make(1)
  const latestOnly = yield* makeLatestOnly
  let current: OwnedRow | undefined

  const supervised = (row: OwnedRow) =>
    session.run(row).pipe(
      Effect.catchTag("SessionTaken", ({ message }) => Effect.logInfo(message)),
      Effect.tapCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.void
          : Effect.annotateLogs(Effect.logError("a WhatsApp session stopped", cause), { session: id })
      ),
      Effect.ensuring(Effect.sync(() => {
        current = undefined
      })),
      Effect.ignoreCause
    )

  /** Begins where nothing runs; undefined when there is no such session any more. */
  const ensure = starting.withPermit(Effect.gen(function*() {
    if (current !== undefined) return current
    const row = yield* take(id)
    if (row === undefined) return yield* Effect.as(keepAwake(false), undefined)
    current = row
    yield* FiberHandle.run(fiber, supervised(row))
    return row
  }))

  /**
   * Waits for a code or a login; for neither when nothing is tried any more after a connection that was begun after
   * `tries` others. One that fails is followed by another, which may find a server that has only just moved.
   */
  const outcome = (tries: number) =>
    SubscriptionRef.changes(session.view).pipe(
      Stream.filter(({ phase, tries: now }) =>
        phase._tag === "Moved" || (now > tries && phase._tag !== "Waiting" && phase._tag !== "Connecting")
      ),
      Stream.runHead,
      Effect.map(Option.match({ onNone: () => undefined, onSome: ({ phase }) => phase }))
    )

  const qr = Effect.gen(function*() {
    const seen = yield* SubscriptionRef.get(session.view)
    if ((yield* ensure) === undefined) return noCode("gone")
    const { phase, tries } = yield* SubscriptionRef.get(session.view)
    if (phase._tag === "Code" || phase._tag === "Connected") return answer(phase)
    if (phase._tag !== "Connecting") yield* session.ask("Asked")
    // A connection that is being made now answers as well as the next one.
    return answer(yield* outcome(phase._tag === "Connecting" ? tries - 1 : Math.min(seen.tries, tries)))
  })

  const pairBy = Effect.fnUntraced(function*(phoneNumber: string) {
    const row = yield* ensure
    if (row === undefined) return noCode("gone")
    if (row.state().is_paired) return noCode("connected")
    const { phase: seen, tries } = yield* SubscriptionRef.get(session.view)
    // A new connection has the whole window for its code; and a device is asked for one code in its life.
    const before = session.live()
    if (before === undefined) yield* session.ask("Asked")
    else yield* Deferred.succeed(before.renew, undefined)
    // One that is just being made is as new as the next.
    const phase = yield* outcome(before === undefined && seen._tag === "Connecting" ? tries - 1 : tries)
    const live = session.live()
    if (phase?._tag !== "Code" || live === undefined) return noCode(whyNot(phase))
    const code = yield* live.socket.requestPairingCode(phoneNumber)
    if (code === undefined) return noCode("unavailable")
    const expires_at = fromDateTime(DateTime.makeUnsafe(phase.until))
    return { _tag: "PairingCode" as const, code: `${code.slice(0, 4)}-${code.slice(4)}`, expires_at }
  })

  /** Each needs a connection of its own, and whoever asks last has the code that holds. */
  const pair = (phoneNumber: string) => latestOnly(pairBy(phoneNumber), noCode("unavailable"))

  const logOut = Effect.gen(function*() {
    const live = session.live()
    if (live !== undefined) yield* Effect.timeoutOption(live.socket.logOut, "4 seconds")
    yield* FiberHandle.clear(fiber)
    yield* keepAwake(false)
  })

  /** One that has failed tries its credentials; whatever runs goes on. */
  const tryAgain = Effect.gen(function*() {
    if ((yield* ensure)?.state().status === "failed") yield* session.ask("TryDue")
  })

  return { ensure, qr, pair, logOut, tryAgain }
})

import {
  Cause,
  DateTime,
  Deferred,
  Duration,
  Effect,
  Exit,
  FiberHandle,
  Option,
  Queue,
  Schema,
  Semaphore,
  Stream,
  SubscriptionRef
} from "effect"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { countersBy } from "../../../platform/observability/series.ts"
import type { WhatsAppSessionId } from "../../../values/Ids.ts"
import { fromDateTime } from "../../../values/Timestamp.ts"
import { OwnershipLost } from "../credentials/CredentialStore.ts"
import type { CloseCause, NextAction } from "../model/SessionState.ts"
import { MessageTraffic } from "../socket/MessageTraffic.ts"
import type { SessionSocket } from "../socket/WhatsAppSocket.ts"
import { pauseAfter, replacedPause } from "./Reconnect.ts"
import * as SessionConnection from "./SessionConnection.ts"
import { type NoCode, SessionEntity } from "./SessionEntity.ts"
import * as SessionRow from "./SessionRow.ts"

type Phase = SessionConnection.Phase

/** The state that requests wait on. `attempts` counts the connections that have begun. */
interface View {
  readonly phase: Phase
  readonly attempts: number
}

/** The current connection. Completing `renew` ends it, and a new one follows at once. */
interface Live {
  readonly socket: SessionSocket
  readonly renew: Deferred.Deferred<void>
}

const causes: ReadonlyArray<CloseCause> = ["restart", "logged_out", "replaced", "codes_expired", "lost"]

const ended = countersBy({
  name: "whatsapp_connections_ended_total",
  description: "Connections of WhatsApp sessions that ended, by cause",
  label: "cause",
  values: causes
})

const reconnects = countersBy({
  name: "whatsapp_reconnects_total",
  description: "Connections that follow an ended one without a request, by the cause of that end",
  label: "cause",
  values: causes
})

/** How long the device may take to log out before its connection closes. */
const logoutTimeout = "4 seconds"

const unlinked = { _tag: "Unlinked" } as const

const noCode = (why: NoCode["why"]): NoCode => ({ _tag: "NoCode", why })

/** Why a wait ended without a code. */
const reasonOf = (phase: Phase | undefined): NoCode["why"] =>
  phase?._tag === "Connected" ? "connected" : phase?._tag === "Moved" ? "moved" : "unavailable"

const answer = (phase: Phase | undefined) =>
  phase?._tag === "Code" ? { ...phase.code, _tag: "Code" as const } : noCode(reasonOf(phase))

/** The actor leaves this node, or another node owns the session already. */
const isMoved = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.isFailure(exit) &&
  (Cause.hasInterruptsOnly(exit.cause) || Schema.is(OwnershipLost)(Cause.squash(exit.cause)))

/**
 * Runs the effects of many callers one at a time. Earlier callers are interrupted and receive `replaced`, even if they
 * have already disconnected.
 */
const latestOnly = Effect.map(Semaphore.make(1), (turn) => {
  let latest: Deferred.Deferred<void> | undefined
  return <A, B, E, R>(effect: Effect.Effect<A, E, R>, replaced: B): Effect.Effect<A | B, E, R> =>
    Effect.suspend(() => {
      if (latest !== undefined) Deferred.doneUnsafe(latest, Effect.void)
      const next = Deferred.makeUnsafe<void>()
      latest = next
      return Effect.raceFirst(turn.withPermit(effect), Effect.as(Deferred.await(next), replaced))
    })
})

/** The connections of one session, one after the other, while this node owns it. */
const makeConnections = Effect.fnUntraced(function*(keepAwake: (awake: boolean) => Effect.Effect<void>) {
  const settings = yield* AppConfig
  const connect = yield* SessionConnection.make
  const view = yield* SubscriptionRef.make<View>({ phase: { _tag: "Idle" }, attempts: 0 })
  const requests = yield* Queue.sliding<"CodeRequested" | "RetryDue">(1)
  let live: Live | undefined

  const show = (phase: Phase) =>
    Effect.andThen(
      // A request that this phase answers must not start another connection later.
      phase._tag === "Code" || phase._tag === "Connected" ? Queue.clear(requests) : Effect.void,
      SubscriptionRef.update(view, ({ attempts }): View => ({
        phase,
        attempts: phase._tag === "Connecting" ? attempts + 1 : attempts
      }))
    )

  const connectOnce = Effect.fnUntraced(function*(row: SessionRow.OwnedRow) {
    const renew = yield* Deferred.make<void>()
    const setLive = (next: Live | undefined) =>
      Effect.sync(() => {
        live = next
      })
    const share = (socket: SessionSocket) =>
      Effect.asVoid(Effect.acquireRelease(setLive({ socket, renew }), () => setLive(undefined)))
    return yield* connect({ row, show, share, renew })
  })

  /** Waits for a request, and lets the actor sleep meanwhile. */
  const idle = Effect.fnUntraced(function*(row: SessionRow.OwnedRow) {
    yield* show({ _tag: "Idle" })
    yield* keepAwake(false)
    const request = yield* Queue.take(requests)
    yield* keepAwake(true)
    return (yield* row.apply({ _tag: request })).next
  })

  const pauseBefore = (next: NextAction, row: SessionRow.OwnedRow) =>
    next._tag !== "Connect" || next.delay === "none"
      ? Effect.succeed(Duration.zero)
      : next.delay === "replaced"
      ? Effect.succeed(replacedPause)
      : pauseAfter(settings, row.state().failures)

  const run = Effect.fnUntraced(function*(row: SessionRow.OwnedRow) {
    let next: NextAction = row.isDesired ? { _tag: "Connect", delay: "none" } : { _tag: "Idle", retryLater: false }
    if (row.isDesired) yield* keepAwake(true)
    while (true) {
      if (next._tag === "Idle") {
        next = yield* idle(row)
        continue
      }
      const pause = yield* pauseBefore(next, row)
      if (Duration.toMillis(pause) > 0) {
        yield* show({ _tag: "BackingOff" })
        // A request ends the pause early.
        yield* Effect.timeoutOption(Queue.take(requests), pause)
      }
      const cause = yield* connectOnce(row)
      if (cause === "renew") {
        next = { _tag: "Connect", delay: "none" }
        continue
      }
      ended(cause)
      next = (yield* row.apply({ _tag: "Closed", cause })).next
      if (next._tag === "Connect") reconnects(cause)
    }
  }, (effect) => Effect.onExit(effect, (exit) => show({ _tag: isMoved(exit) ? "Moved" : "Idle" })))

  return {
    run,
    view,
    live: () => live,
    request: (request: "CodeRequested" | "RetryDue") => Effect.asVoid(Queue.offer(requests, request))
  }
})

/**
 * Runs one session until its scope ends, and answers the messages of its actor. `keepAwake` says whether the cluster must
 * restart the actor on another node.
 */
export const make = Effect.fnUntraced(function*(
  id: WhatsAppSessionId,
  keepAwake: (awake: boolean) => Effect.Effect<void>
) {
  const claim = yield* SessionRow.make
  const { wake } = yield* MessageTraffic
  const session = yield* makeConnections(keepAwake)
  const fiber = yield* FiberHandle.make<void>()
  const starting = yield* Semaphore.make(1)
  const onlyLatest = yield* latestOnly
  let current: SessionRow.OwnedRow | undefined

  const supervised = (row: SessionRow.OwnedRow) =>
    session.run(row).pipe(
      Effect.catchTag("OwnershipLost", ({ message }) => Effect.logInfo(message)),
      Effect.tapCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.void
          : Effect.annotateLogs(Effect.logError("WhatsApp session stopped", cause), { session: id })
      ),
      Effect.ensuring(Effect.sync(() => {
        current = undefined
      })),
      Effect.ignoreCause
    )

  /** Starts the session unless it runs. Undefined if the session is deleted. */
  const ensure = starting.withPermit(Effect.gen(function*() {
    if (current !== undefined) return current
    const row = yield* claim(id)
    if (row === undefined) return yield* Effect.as(keepAwake(false), undefined)
    current = row
    yield* FiberHandle.run(fiber, supervised(row))
    return row
  }))

  /**
   * The first phase with an answer after more than `attempts` connections. A failed connection is followed by the next
   * one, which may find a server that has just moved.
   */
  const outcome = (attempts: number) =>
    SubscriptionRef.changes(session.view).pipe(
      Stream.filter(({ attempts: now, phase }) =>
        phase._tag === "Moved" || (now > attempts && phase._tag !== "BackingOff" && phase._tag !== "Connecting")
      ),
      Stream.runHead,
      Effect.map(Option.match({ onNone: () => undefined, onSome: ({ phase }) => phase }))
    )

  const qr = Effect.gen(function*() {
    const seen = yield* SubscriptionRef.get(session.view)
    if ((yield* ensure) === undefined) return noCode("gone")
    const { attempts, phase } = yield* SubscriptionRef.get(session.view)
    if (phase._tag === "Code" || phase._tag === "Connected") return answer(phase)
    if (phase._tag !== "Connecting") yield* session.request("CodeRequested")
    // The answer may come from the connection that is being opened.
    return answer(yield* outcome(phase._tag === "Connecting" ? attempts - 1 : Math.min(seen.attempts, attempts)))
  })

  const pair = Effect.fnUntraced(function*(phoneNumber: string) {
    const row = yield* ensure
    if (row === undefined) return noCode("gone")
    if (row.state().is_paired) return noCode("connected")
    const { attempts, phase: seen } = yield* SubscriptionRef.get(session.view)
    // A new connection has the whole code window, and a device may ask for one code only.
    const before = session.live()
    if (before === undefined) yield* session.request("CodeRequested")
    else yield* Deferred.succeed(before.renew, undefined)
    // A connection that is being opened is as good as a new one.
    const phase = yield* outcome(before === undefined && seen._tag === "Connecting" ? attempts - 1 : attempts)
    const live = session.live()
    if (phase?._tag !== "Code" || live === undefined) return noCode(reasonOf(phase))
    const code = yield* live.socket.requestPairingCode(phoneNumber)
    if (code === undefined) return noCode("unavailable")
    const expires_at = fromDateTime(DateTime.makeUnsafe(phase.until))
    return { _tag: "PairingCode" as const, code: `${code.slice(0, 4)}-${code.slice(4)}`, expires_at }
  })

  const logOut = Effect.gen(function*() {
    const live = session.live()
    if (live !== undefined) yield* Effect.timeoutOption(live.socket.logOut, logoutTimeout)
    yield* FiberHandle.clear(fiber)
    yield* keepAwake(false)
  })

  return SessionEntity.of({
    Wake: () => Effect.andThen(ensure, Effect.sync(() => wake(id))),
    Try: () =>
      Effect.gen(function*() {
        if ((yield* ensure)?.state().status === "failed") yield* session.request("RetryDue")
      }),
    Qr: () => qr,
    // Each code needs a new connection, so only the last caller's code is valid.
    Pair: ({ payload: { phoneNumber } }: { readonly payload: { readonly phoneNumber: string } }) =>
      onlyLatest(pair(phoneNumber), noCode("unavailable")),
    LogOut: () => logOut,
    Unlink: () =>
      Effect.gen(function*() {
        const row = yield* ensure
        if (row === undefined) return noCode("gone")
        if (!row.state().is_paired) return unlinked
        yield* logOut
        // WhatsApp may have told the connection already that the device is gone.
        if (row.state().is_paired) yield* row.apply({ _tag: "Closed", cause: "logged_out" })
        return unlinked
      }).pipe(Effect.catchTag("OwnershipLost", () => Effect.succeed(noCode("moved"))))
  })
})

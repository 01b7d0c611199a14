/**
 * Keeps the connection of one WhatsApp session. `SessionSupervisor.ts` runs it, `SessionConnection.ts` is one connection.
 *
 * Callers: `Sessions` sends `Qr`, `Pair`, `Unlink` and `LogOut`; the sweeper sends `Wake` and `Try`; nodes that accept messages
 * send `Wake`.
 * State: the row in `whatsapp_sessions` and the encrypted rows in `whatsapp_keys`. Memory holds the connection, the shown
 * code and the number of attempts.
 * On shard move: the node closes the connection and stores pending credentials; a dead node cannot. The next owner raises
 * the epoch, which fences every earlier writer, and connects with the stored credentials. That needs no scan and counts
 * as no failure. A shown code dies with its connection, and the next owner shows new ones.
 * Idempotence: a repeated `Qr` answers with the same code. A repeated `Pair` makes a new code.
 * Sleep: an actor with a desired connection stays awake, and the cluster restarts it on another node. The actor of a
 * failed session sleeps after a minute, until a request comes or a retry is due.
 */
import { Effect, Layer } from "effect"
import { Entity, type Sharding } from "effect/cluster"
import { drainBeforeClose } from "../../../platform/cluster/drainBeforeClose.ts"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { PeriodicTask } from "../../../platform/work/PeriodicTask.ts"
import { WhatsAppSessionId } from "../../../values/Ids.ts"
import { type NoCode, SessionEntity } from "./SessionEntity.ts"
import { SessionRowRepo } from "./SessionRowRepo.ts"
import { Sessions } from "./Sessions.ts"
import { SessionsRepo } from "./SessionsRepo.ts"
import * as SessionSupervisor from "./SessionSupervisor.ts"

const unavailable: NoCode = { _tag: "NoCode", why: "unavailable" }

/** With PAUSED no session connects, so no code can be shown. */
const paused = SessionEntity.of({
  Wake: () => Effect.void,
  Try: () => Effect.void,
  Qr: () => Effect.succeed(unavailable),
  Pair: () => Effect.succeed(unavailable),
  LogOut: () => Effect.void,
  Unlink: () => Effect.succeed(unavailable)
})

const make = Effect.gen(function*() {
  if ((yield* AppConfig).paused) return paused
  const id = WhatsAppSessionId.make(Number((yield* Entity.CurrentAddress).entityId))
  const context = yield* Effect.context<Sharding.Sharding | Entity.CurrentAddress>()
  const handlers = yield* SessionSupervisor.make(
    id,
    (awake) => Effect.provideContext(Entity.keepAlive(awake), context)
  )
  yield* handlers.Wake()
  return handlers
})

/** Runs sessions on this node. Requests run concurrently, because one may wait long for a code. */
export const SessionActor = drainBeforeClose((track) =>
  SessionEntity.toLayer(Effect.andThen(track, make), { concurrency: "unbounded", maxIdleTime: "1 minute" })
).pipe(Layer.provide(SessionRowRepo.layer))

interface Found {
  readonly id: WhatsAppSessionId
}

/** A message to a dead node's actor waits for the next owner of its shard. The timeout lets the others go on. */
const wakeTimeout = "5 seconds"

const wakeAll = <E>(found: ReadonlyArray<Found>, wake: (id: string) => Effect.Effect<void, E>) =>
  Effect.forEach(found, ({ id }) => Effect.ignoreCause(Effect.timeoutOption(wake(String(id)), wakeTimeout)), {
    concurrency: 50,
    discard: true
  })

/** Finishes removals that stopped halfway, erases unanswered sessions, and starts due retries, every two seconds. */
const Leftovers = PeriodicTask.make(
  "WhatsAppSessionSweeper",
  "2 seconds",
  Effect.gen(function*() {
    const repo = yield* SessionsRepo
    const sessions = yield* Sessions
    const actor = yield* SessionEntity.client
    yield* Effect.forEach(yield* repo.leftovers(), ({ id }) => sessions.erase(id), { concurrency: 10, discard: true })
    yield* wakeAll(yield* repo.dueRetries(), (id) => actor(id).Try(undefined, { discard: true }))
  })
)

/** Wakes every actor once a minute, for those that the cluster has not restarted. */
const Watch = PeriodicTask.make(
  "WhatsAppSessionWatch",
  "1 minute",
  Effect.gen(function*() {
    const repo = yield* SessionsRepo
    const actor = yield* SessionEntity.client
    yield* wakeAll(yield* repo.desired(), (id) => actor(id).Wake(undefined, { discard: true }))
  })
)

/** Retries all failed sessions when a node starts. */
const OnStart = Layer.effectDiscard(Effect.flatMap(SessionsRepo, ({ retryAll }) => retryAll))

/** Finds sessions that need work and have no running actor. */
export const SessionSweeper = Layer.mergeAll(Leftovers, Watch, OnStart).pipe(Layer.provide(SessionsRepo.layer))

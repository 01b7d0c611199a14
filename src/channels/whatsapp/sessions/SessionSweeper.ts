import { Effect, Layer } from "effect"
import { PeriodicTask } from "../../../platform/work/PeriodicTask.ts"
import type { WhatsAppSessionId } from "../../../values/Ids.ts"
import { SessionEntity } from "./SessionEntity.ts"
import { Sessions } from "./Sessions.ts"
import { SessionsRepo } from "./SessionsRepo.ts"

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

import { Effect, Layer } from "effect"
import { PeriodicTask } from "../../../platform/work/PeriodicTask.ts"
import type { WhatsAppSessionId } from "../../../values/Ids.ts"
import { SessionEntity } from "./SessionEntity.ts"
import { Sessions } from "./Sessions.ts"
import { makeSessionsRepo } from "./SessionsRepo.ts"

interface Found {
  readonly id: WhatsAppSessionId
}

/** A nudge for the actor of a dead node waits until another one has its shard; the others are told meanwhile. */
const patience = "5 seconds"

const nudging = <E>(found: ReadonlyArray<Found>, nudge: (id: string) => Effect.Effect<void, E>) =>
  Effect.forEach(found, ({ id }) => Effect.ignoreCause(Effect.timeoutOption(nudge(String(id)), patience)), {
    concurrency: 50,
    discard: true
  })

/** Every two seconds: removals that stood still, sessions whose request died, and tries that are due. */
const Leftovers = PeriodicTask.make(
  "WhatsAppSessionSweeper",
  "2 seconds",
  Effect.gen(function*() {
    const repo = yield* makeSessionsRepo
    const sessions = yield* Sessions
    const actor = yield* SessionEntity.client
    yield* Effect.forEach(yield* repo.leftovers(), ({ id }) => sessions.erase(id), { concurrency: 10, discard: true })
    yield* nudging(yield* repo.dueTries(), (id) => actor(id).Try(undefined, { discard: true }))
  })
)

/** Every minute: the cluster wakes the actors by itself, this one only those whose message it has lost. */
const Lost = PeriodicTask.make(
  "WhatsAppSessionWatch",
  "1 minute",
  Effect.gen(function*() {
    const repo = yield* makeSessionsRepo
    const actor = yield* SessionEntity.client
    yield* nudging(yield* repo.desired(), (id) => actor(id).Wake(undefined, { discard: true }))
  })
)

/** What a node had to leave for hours may work again by now. */
const OnStart = Layer.effectDiscard(Effect.flatMap(makeSessionsRepo, ({ tryAll }) => Effect.orDie(tryAll)))

/** Finds the sessions that nobody works on and should. */
export const SessionSweeper = Layer.mergeAll(Leftovers, Lost, OnStart)

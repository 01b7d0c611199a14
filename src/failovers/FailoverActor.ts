/**
 * Moves one message with steps from channel to channel.
 *
 * Callers: `Wake`, by a request that rescheduled the message, and by the sweeper, which finds messages whose time has come
 * or whose steps have changed. The requests that accept and cancel a message run the same step under the same lock.
 * State: the rows of `failovers`, `failover_steps` and of the steps' messages. Nothing in memory.
 * On shard move: a transaction that has begun commits or not; the next owner finds the rows. A crash undoes it.
 * Idempotence: a step begins in the transaction that notes its message, under a lock on the failover, so it begins once.
 * Sleep: at once. The end of a step's time is a row, and so is a change of its message.
 */
import { Effect, Layer } from "effect"
import { Entity } from "effect/cluster"
import { drainBeforeClose } from "../platform/cluster/drainBeforeClose.ts"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { retryWhileUnavailable } from "../platform/database/unavailable.ts"
import { PeriodicTask } from "../platform/work/PeriodicTask.ts"
import { FailoverId } from "../values/Ids.ts"
import { FailoverEntity, makeWake } from "./FailoverEntity.ts"
import { FailoverProgress } from "./FailoverProgress.ts"
import { FailoversRepo } from "./FailoversRepo.ts"

const make = Effect.gen(function*() {
  const address = yield* Entity.CurrentAddress
  const { paused } = yield* AppConfig
  const { advance } = yield* FailoverProgress
  const id = FailoverId.make(address.entityId)
  return FailoverEntity.of({
    Wake: () => paused ? Effect.void : retryWhileUnavailable(advance(id))
  })
})

/** Runs failovers on this node. */
export const FailoverActor = drainBeforeClose((track) =>
  FailoverEntity.toLayer(Effect.andThen(track, make), { maxIdleTime: "1 second" })
)

/** Actors that one round wakes. */
const maxWoken = 500

/** Wakes the actors of failovers that are due, on one node of the cluster. */
export const FailoverSweeper = Layer.unwrap(Effect.gen(function*() {
  const { paused } = yield* AppConfig
  if (paused) return Layer.empty
  const repo = yield* FailoversRepo
  const wake = yield* makeWake
  return PeriodicTask.make(
    "FailoverSweeper",
    "1 second",
    Effect.flatMap(repo.due(maxWoken), (due) => wake(due.map(({ id }) => id)))
  )
})).pipe(Layer.provide(FailoversRepo.layer))

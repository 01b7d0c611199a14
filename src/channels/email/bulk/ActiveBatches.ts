import { Context, Deferred, Duration, Effect, Layer } from "effect"
import { monotonicMillis } from "../../../platform/schedule/monotonic.ts"
import { GracePeriod } from "../../../platform/work/GracePeriod.ts"
import { PeriodicTask } from "../../../platform/work/PeriodicTask.ts"
import type { AccountId, EmailBatchId } from "../../../values/Ids.ts"
import { isTest } from "../../../values/TestMode.ts"
import { Smtp } from "../smtp/Smtp.ts"
import { BatchDispatch, leaseTimeout } from "./BatchDispatch.ts"
import { BatchesRepo } from "./BatchesRepo.ts"
import { BatchShards } from "./BatchShards.ts"
import { type ActiveBatch, batchTurns, type WaitingBatch } from "./batchTurns.ts"

/** The most batches that actors of a node send at once: enough for its connections, and few enough for its memory. */
const maxActive = 50

/** The most batches that a poll finds. */
const maxFound = 200

type Batch = Pick<WaitingBatch, "id" | "account_id">

type Wake = (ids: ReadonlyArray<EmailBatchId>) => Effect.Effect<void>

interface Active extends ActiveBatch {
  readonly stop: Deferred.Deferred<void>
}

/** The batches that actors send on this node. The others wait in the table. */
export class ActiveBatches extends Context.Service<ActiveBatches, {
  readonly hasRoom: Effect.Effect<boolean>
  /** Runs a batch until it ends, or another account needs its place. Does nothing without room. */
  readonly run: <E, R>(batch: Batch, work: Effect.Effect<void, E, R>) => Effect.Effect<void, E, R>
  /**
   * Polls for batches of this node's shards that have work, for ever. Sends small ones, and wakes the actors of others, as
   * many as there is room for.
   */
  readonly poll: (wake: Wake) => Effect.Effect<void>
  /** False for some time after an outage that a poll has found. */
  readonly mayReclaim: Effect.Effect<boolean>
}>()("messaging-service/channels/email/bulk/ActiveBatches") {
  static readonly layer = Layer.effect(
    ActiveBatches,
    Effect.gen(function*() {
      const repo = yield* BatchesRepo
      const { admission } = yield* Smtp
      const shards = yield* BatchShards.make
      const active = new Map<EmailBatchId, Active>()
      const dispatch = yield* BatchDispatch
      const grace = yield* GracePeriod.make
      let servedAt: ReadonlyMap<AccountId, number> = new Map()
      /** Whether batches wait for room. */
      let isBehind = false

      const hasRoom = Effect.sync(() => {
        isBehind ||= active.size >= maxActive
        return active.size < maxActive
      })

      const run = Effect.fnUntraced(function*<E, R>(
        { account_id: account, id }: Batch,
        work: Effect.Effect<void, E, R>
      ) {
        if (!(yield* hasRoom)) return
        const stop = yield* Deferred.make<void>()
        const since = yield* monotonicMillis
        active.set(id, { id, account, since, stop })
        servedAt = new Map(servedAt).set(account, since)
        yield* Effect.ensuring(
          Effect.raceFirst(work, Deferred.await(stop)),
          Effect.sync(() => {
            active.delete(id)
            if (isBehind) dispatch.room.signalUnsafe()
          })
        )
      })

      const poll = Effect.fnUntraced(function*(wake: Wake) {
        // Test batches do not wait for the relay.
        const isAway = (yield* admission())._tag === "Refused"
        const found = yield* repo.findWaiting({
          shards: shards.owned(),
          except: [...active.keys()],
          claimedFor: leaseTimeout,
          limit: maxFound
        })
        const owned = found.filter(({ account_id, id }) => shards.owns(id) && !(isAway && !isTest(account_id)))
        yield* dispatch.resume(owned.filter(({ is_small }) => is_small))
        const waiting = owned.filter(({ is_small }) => !is_small)
        const room = Math.max(0, maxActive - active.size)
        isBehind = waiting.length > room
        const accounts = new Set(waiting.map(({ account_id }) => account_id))
        servedAt = new Map([...servedAt].filter(([account]) => accounts.has(account)))
        const now = yield* monotonicMillis
        const turns = batchTurns({ active: [...active.values()], waiting, servedAt, room, now })
        yield* wake(turns.wake)
        const stopped = turns.stop === undefined ? undefined : active.get(turns.stop)
        if (stopped !== undefined) yield* Deferred.succeed(stopped.stop, undefined)
      })

      return ActiveBatches.of({
        hasRoom,
        run,
        mayReclaim: Effect.sync(grace.isOver),
        poll: (wake) =>
          PeriodicTask.repeat(
            "polling for batches",
            Duration.zero,
            Effect.andThen(dispatch.room.wait("1 second"), grace.watch(poll(wake)))
          )
      })
    })
  ).pipe(Layer.provide(BatchesRepo.layer))
}

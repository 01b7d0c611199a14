/**
 * Releases scheduled messages at their time: they become queued, and the senders of their channel do the rest.
 *
 * Callers: each channel registers how it releases its messages. Every node runs the loop.
 * State: the rows. In memory: the time of the next look, at most a second ahead.
 * On shard move: does not apply. Nodes release rows past each other, and what a dead node had not committed, another
 * releases.
 * Idempotence: a message leaves `scheduled` once, in the transaction that releases it.
 * Sleep: until the earliest time, at most a second. Waiting messages cost one read of the first entries of the indexes.
 */
import { Clock, Context, Duration, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../platform/config/AppConfig.ts"
import * as Query from "../platform/database/Query.ts"
import { PeriodicTask } from "../platform/work/PeriodicTask.ts"

const Queue = Schema.Literals(["email", "email_batches", "sms", "whatsapp"])
type Queue = typeof Queue.Type

/** Milliseconds. A clock that is set forward makes messages due at once. */
const maxWait = 1_000

/** When another node is releasing what is due. */
const lockedWait = 50

/** The scheduled messages of all channels. */
export class ScheduledQueues extends Context.Service<ScheduledQueues, {
  /**
   * Registers how a queue releases its messages. `release` releases a portion of those that are due, and answers with
   * their number.
   */
  readonly register: (queue: Queue, release: Effect.Effect<number>) => Effect.Effect<void>
}>()("messaging-service/messages/ScheduledQueues") {
  static readonly layer = Layer.effect(
    ScheduledQueues,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { paused } = yield* AppConfig
      const clock = yield* Clock.Clock
      const queues = new Map<Queue, Effect.Effect<number>>()
      let wait = 0

      const next = Query.findAll({
        Request: Schema.Void,
        Result: Schema.Struct({ queue: Queue, millis: Schema.Finite }),
        execute: () =>
          sql`select queue, extract(epoch from at - clock_timestamp())::float8 * 1000 as millis from (values
              ('email', (select min(send_at) from email_messages where status = 'scheduled' and batch_id is null)),
              ('email_batches', (select min(send_at) from email_batches where status = 'scheduled')),
              ('sms', (select min(send_at) from messages where status = 'scheduled' and channel = 'sms')),
              ('whatsapp', (select min(send_at) from messages where status = 'scheduled' and channel = 'whatsapp'))
            ) as t (queue, at) where at is not null`
      })

      /** Releases a portion of each queue at a time, so that a backlog of one delays no other. */
      const round = Effect.gen(function*() {
        wait = maxWait
        const before = clock.currentTimeMillisUnsafe()
        const waits = yield* next()
        const due = waits.filter(({ millis }) => millis <= 0)
        if (due.length === 0) {
          const passed = clock.currentTimeMillisUnsafe() - before
          const soonest = Math.min(maxWait, ...waits.map(({ millis }) => Math.ceil(millis)))
          wait = Math.max(1, soonest - Math.max(0, passed))
          return
        }
        const released = yield* Effect.forEach(due, ({ queue }) => queues.get(queue) ?? Effect.succeed(0), {
          concurrency: "unbounded"
        })
        wait = released.some((count) => count > 0) ? 0 : lockedWait
      })

      if (!paused) {
        const task = Effect.andThen(Effect.suspend(() => Effect.sleep(wait)), round)
        yield* Effect.forkScoped(PeriodicTask.repeat("releasing scheduled messages", Duration.zero, task))
      }

      return ScheduledQueues.of({
        register: (queue, release) => Effect.sync(() => void queues.set(queue, release))
      })
    })
  )
}

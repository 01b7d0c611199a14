import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { column } from "../platform/database/column.ts"
import * as Query from "../platform/database/Query.ts"
import type { MessageBatchId } from "../values/Ids.ts"

/** A message that left the queue: its batch, if any, and the count that it adds to if it was queued before. */
export interface BatchMove {
  readonly batchId: MessageBatchId | null
  readonly to: "sent" | "failed" | "canceled" | undefined
}

/** One change for each batch, however many of its messages moved. */
const stepsOf = (moves: ReadonlyArray<BatchMove>) => {
  const steps = new Map<MessageBatchId, { id: MessageBatchId; sent: number; failed: number; canceled: number }>()
  for (const { batchId, to } of moves) {
    if (batchId === null || to === undefined) continue
    const step = steps.get(batchId) ?? { id: batchId, sent: 0, failed: 0, canceled: 0 }
    step[to]++
    steps.set(batchId, step)
  }
  return [...steps.values()]
}

/**
 * Counts messages that left the queue in their batches, in the transaction that changes the messages. A batch starts with the
 * first one that was sent or failed, and ends with its last message. The order of locks is fixed, so that groups cannot
 * deadlock.
 */
export const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  return Effect.fnUntraced(function*(moves: ReadonlyArray<BatchMove>) {
    const steps = stepsOf(moves)
    if (steps.length === 0) return
    yield* Query.run(sql`with step as (
        select * from unnest(${column.text(steps.map((s) => s.id))}, ${column.int4(steps.map((s) => s.sent))},
          ${column.int4(steps.map((s) => s.failed))}, ${column.int4(steps.map((s) => s.canceled))})
          as t (id, sent, failed, canceled)
      ), locked as (
        select id from message_batches where id in (select id from step) order by id for update
      )
      update message_batches b set sent = b.sent + s.sent, failed = b.failed + s.failed,
        canceled = b.canceled + s.canceled,
        started_at = case when s.sent + s.failed > 0 then coalesce(b.started_at, now()) else b.started_at end,
        completed_at = case when b.sent + s.sent + b.failed + s.failed + b.canceled + s.canceled = b.total then now() end,
        status = case when b.status = 'canceled' then 'canceled'
          when b.sent + s.sent + b.failed + s.failed + b.canceled + s.canceled < b.total
            then case when b.status = 'scheduled' then 'scheduled' else 'processing' end
          when b.sent + s.sent > 0 then 'completed' when b.failed + s.failed > 0 then 'failed' else 'canceled' end
      from step s, locked l where b.id = s.id and b.id = l.id`)
  })
})

import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { column } from "../../platform/database/column.ts"
import * as Query from "../../platform/database/Query.ts"
import { makeCounts } from "../../platform/work/Counts.ts"
import type { WebhookId } from "../../values/Ids.ts"
import type { AttemptRecord } from "./DeliveryAttempt.ts"

/** The attempts of a webhook that took about as long. */
interface Count {
  readonly webhookId: WebhookId
  readonly duration: number
  readonly succeeded: number
  readonly failed: number
}

/** The classes of durations between a time and twice that time. */
export const classesPerDoubling = 4

/** Quarters of the binary logarithm of the milliseconds, rounded up: 40 is for 862 to 1,024 ms. */
const durationClass = (millis: number): number => Math.ceil(classesPerDoubling * Math.log2(Math.max(1, millis)))

/** Counts the attempts of a node, and adds them to the figures of their webhooks. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  // One order for all nodes: while a webhook moves, two of them add to its rows. A removed webhook gets no more rows.
  const write = (given: ReadonlyArray<Count>) =>
    Query.run(sql`insert into webhook_attempt_counts as c (webhook_id, hour, duration, succeeded, failed)
      select w.id, date_trunc('hour', now(), 'UTC'), duration, succeeded, failed
      from unnest(${column.int8(given.map(({ webhookId }) => webhookId))},
        ${column.int4(given.map(({ duration }) => duration))}, ${column.int4(given.map(({ succeeded }) => succeeded))},
        ${column.int4(given.map(({ failed }) => failed))}) as t (webhook_id, duration, succeeded, failed)
      join webhooks w on w.id = t.webhook_id
      order by w.id, duration
      on conflict (webhook_id, hour, duration)
        do update set succeeded = c.succeeded + excluded.succeeded, failed = c.failed + excluded.failed`)

  const add = yield* makeCounts<Count, never>({
    task: "WebhookFigures",
    keyOf: ({ duration, webhookId }) => `${webhookId} ${duration}`,
    sum: (one, other) => ({
      ...other,
      succeeded: one.succeeded + other.succeeded,
      failed: one.failed + other.failed
    }),
    write
  })

  /** Counts an attempt whose outcome is stored. */
  return ({ durationMs, transition: { error }, webhookId }: AttemptRecord): void =>
    add({
      webhookId,
      duration: durationClass(durationMs),
      succeeded: error === null ? 1 : 0,
      failed: error === null ? 0 : 1
    })
})

import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { RunningNode } from "./Service.ts"

/** A time in the form of requests, so many seconds ahead. */
export const secondsAhead = (seconds: number) =>
  Effect.map(
    Effect.clockWith((clock) => clock.currentTimeMillis),
    (now) => `${new globalThis.Date(now + seconds * 1_000).toISOString().slice(0, 23)}+00:00`
  )

/** The channels with the table of their messages. */
const tables = { email: "email_messages", sms: "messages", whatsapp: "messages" } as const

/** Brings the time of scheduled messages, or of a batch, forward to some milliseconds from now. */
export const bringForward = Effect.fnUntraced(function*(
  channel: keyof typeof tables,
  which: { readonly id?: unknown; readonly batch?: unknown },
  millis = 0
) {
  const sql = yield* SqlClient.SqlClient
  const at = sql`now() + ${millis}::integer * interval '1 millisecond'`
  const batches = channel === "email" ? "email_batches" : "message_batches"
  const rows = which.batch === undefined
    ? sql`id = ${Number(which.id)} or ${channel === "email" ? sql`part_of = ${Number(which.id)}` : sql`false`}`
    : sql`batch_id = ${String(which.batch)}`
  yield* sql`update ${sql(tables[channel])} set send_at = ${at} where ${rows}`
  if (which.batch !== undefined) {
    yield* sql`update ${sql(batches)} set send_at = ${at} where id = ${String(which.batch)}`
  }
}, Effect.orDie)

/** Posts a request that must be accepted as scheduled, and returns its answer. */
export const schedule = Effect.fnUntraced(function*(
  node: RunningNode,
  { body, key, path, seconds = 3_600 }: {
    readonly key: string
    readonly path: string
    readonly body: Readonly<Record<string, unknown>>
    readonly seconds?: number
  }
) {
  const json = { ...body, send_at: yield* secondsAhead(seconds) }
  const answer = yield* node.request("POST", path, { key, json })
  assert.strictEqual(answer.status, 202, answer.text)
  assert.strictEqual(answer.at("data", "status"), "scheduled", answer.text)
  return answer
})

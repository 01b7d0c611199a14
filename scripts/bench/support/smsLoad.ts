/** Batches of SMS as callers send them, and the rate of their submits. */
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"

/** Messages of a run. */
export const messages = 3_000
const perBatch = 500

const numberOf = (index: number) => `+25078${String(8_000_000 + index).padStart(7, "0")}`

const sendBulk = (port: number, key: string, json: unknown) =>
  Effect.promise((signal) =>
    fetch(`http://127.0.0.1:${port}/v1/sms/send-bulk`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(json),
      signal
    }).then((answer) => answer.text())
  )

/** Submits per second in the middle of a run. Its start and its end have no full window. */
export const submits = Effect.fnUntraced(function*(port: number, key: string) {
  const sql = yield* SqlClient.SqlClient
  for (let from = 0; from < messages; from += perBatch) {
    const recipients = Array.from({ length: perBatch }, (_, index) => numberOf(from + index))
    yield* sendBulk(port, key, { content: "Hello", recipients })
  }
  yield* Effect.repeat(sql`select from sms_parts where status <> 'sent' limit 1`, {
    until: (rows) => rows.length === 0,
    schedule: Schedule.spaced("200 millis")
  })
  const [row] =
    yield* sql`select 0.8 * count(*) / extract(epoch from percentile_disc(0.9) within group (order by sent_at)
    - percentile_disc(0.1) within group (order by sent_at))::float8 as rate from sms_parts`
  yield* sql`truncate messages, message_batches cascade`
  return Number(row?.["rate"])
})

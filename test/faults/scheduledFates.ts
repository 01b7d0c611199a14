import { assert } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { secondsAhead } from "../support/scheduled.ts"
import { type Answer, eventually, type RunningNode } from "../support/Service.ts"
import { longer } from "../support/waiting.ts"
import { randomPause } from "./FaultCluster.ts"

/**
 * What happens to a message around the kill, also its tag. `waiting` is due only afterwards. The others are due shortly
 * before it, and two of these are canceled or get another time at that moment.
 */
export const fates = ["waiting", "due", "canceled", "rescheduled"] as const
export type Fate = typeof fates[number]

/** Milliseconds from the request of the test until messages are due. */
export const ahead = 700

export interface Planned {
  readonly fate: Fate
  /** Of its record. */
  readonly path: string
  readonly isBatch: boolean
  readonly to: ReadonlyArray<string>
}

/** Posts a scheduled message or batch, with its fate as the tag. */
export const accepted = Effect.fnUntraced(function*(node: RunningNode, key: string, asked: {
  readonly channel: "email" | "sms" | "whatsapp"
  readonly fate: Fate
  readonly to: ReadonlyArray<string>
  readonly isBatch: boolean
  readonly body: Readonly<Record<string, unknown>>
}) {
  const { body, channel, fate, isBatch, to } = asked
  const json = { ...body, ...(isBatch ? { recipients: to } : { to: to[0] }), tags: [fate] }
  const answer = yield* node.request("POST", `/v1/${channel}/${isBatch ? "send-bulk" : "send"}`, { key, json })
  assert.strictEqual(answer.status, 202, answer.text)
  const id = String(answer.at("data", isBatch ? "batch_id" : channel === "email" ? "id" : "message_id"))
  return { fate, isBatch, to, path: `/v1/${channel}/${isBatch ? "batches" : "messages"}/${id}` } satisfies Planned
})

const tables = [["email_messages", "email_batches"], ["messages", "message_batches"]] as const

/** Brings the messages of these fates, and their batches, forward to some milliseconds from now. */
export const makeDue = Effect.fnUntraced(function*(account: number, due: ReadonlyArray<Fate>, millis: number) {
  const sql = yield* SqlClient.SqlClient
  for (const table of tables.flat()) {
    yield* sql`update ${sql(table)} set send_at = now() + ${millis}::integer * interval '1 millisecond'
      where account_id = ${account} and status = 'scheduled' and tags && ${sql.literal(`'{${due.join(",")}}'::text[]`)}`
  }
})

/** Cancels and reschedules at random moments. A node that dies meanwhile gives no answer. */
export const change = Effect.fnUntraced(function*(node: RunningNode, key: string, planned: ReadonlyArray<Planned>) {
  const later = { send_at: yield* secondsAhead(7_200) }
  const changed = planned.filter(({ fate }) => fate === "canceled" || fate === "rescheduled")
  return yield* Effect.forEach(
    changed,
    Effect.fnUntraced(function*(message) {
      yield* randomPause(0, 2 * ahead)
      const answer = message.fate === "canceled"
        ? node.request("POST", `${message.path}/cancel`, { key })
        : node.request("PATCH", message.path, { key, json: later })
      return [message, yield* Effect.exit(answer)] as const
    }),
    { concurrency: "unbounded" }
  )
})

/** The status of each recipient. */
export const statuses = Effect.fnUntraced(function*(account: number) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`select recipient, status from email_messages where account_id = ${account}
    union all select recipient, status from messages where account_id = ${account}`
  return new Map(rows.map((row) => [String(row["recipient"]), String(row["status"])]))
})

/** Waits until no message of the account is due or on its way. */
export const quiet = Effect.fnUntraced(function*(account: number) {
  const sql = yield* SqlClient.SqlClient
  const open = sql`(status in ('queued', 'sending') or status = 'scheduled' and send_at < now() + interval '1 minute')`
  yield* eventually(
    sql`select recipient, status from email_messages where account_id = ${account} and ${open}
      union all select recipient, status from messages where account_id = ${account} and ${open}`,
    (rows) => rows.length === 0,
    longer.takeover
  )
})

/** Checks that the answers to changes tell what became of the messages. Returns the numbers of those that changed or not. */
export const checkAnswers = (
  answers: ReadonlyArray<readonly [Planned, Exit.Exit<Answer>]>,
  found: ReadonlyMap<string, string>
) => {
  const counts = { changed: 0, refused: 0, unanswered: 0 }
  for (const [{ fate, isBatch, path, to }, answer] of answers) {
    if (Exit.isFailure(answer)) {
      counts.unanswered++
      continue
    }
    const { status, text } = answer.value
    assert.include([200, 409], status, text)
    counts[status === 200 ? "changed" : "refused"]++
    // Some recipients of a batch may have been sent before the change of the others.
    if (isBatch) continue
    const reached = to.map((recipient) => found.get(recipient))
    const changed = fate === "canceled" ? "canceled" : "scheduled"
    if (status === 200) assert.deepStrictEqual(reached, [changed], path)
    else assert.notInclude(reached, changed, path)
  }
  return counts
}

import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ended, sendBulk } from "./bulkMail.ts"
import type { RunningNode } from "./Service.ts"

/** Creates a webhook. */
export const create = Effect.fnUntraced(function*(node: RunningNode, key: string, json: unknown) {
  const answer = yield* node.request("POST", "/v1/webhooks", { key, json })
  if (answer.status !== 201) return yield* Effect.die(new Error(answer.text))
  return { id: Number(answer.at("data", "id")), secret: String(answer.at("data", "secret")), answer }
})

/** Causes events: sends a batch of one mail, which publishes `email.sent` and `email.bulk_completed`. */
export const happen = Effect.fnUntraced(function*(node: RunningNode, key: string, to = "fine@people.example") {
  const id = yield* sendBulk(node, key, { subject: "s", html: "h", recipients: [to] })
  yield* ended(node, key, id)
  return id
})

/** A webhook's delivery history. */
export const deliveriesOf = (node: RunningNode, key: string, id: number, query = "") =>
  node.request("GET", `/v1/webhooks/${id}/deliveries${query}`, { key })

/** Makes the next attempts of a webhook's waiting deliveries due at once, or that of one delivery. */
export const hasten = Effect.fnUntraced(function*(id: number, delivery: number | null = null) {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.orDie(
    sql`update webhook_queue set due_at = now() - interval '1 minute'
      where webhook_id = ${id} and status = 'retrying' and due_at > now() and id = coalesce(${delivery}::bigint, id)`
  )
})

/** The next attempt of a webhook's waiting delivery follows the last one after these seconds, and the time to store it. */
export const assertPause = Effect.fnUntraced(function*(id: number, seconds: number) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`select extract(epoch from due_at - (attempts -> -1 ->> 'started_at')::timestamptz)::float8
    - (attempts -> -1 ->> 'duration_ms')::float8 / 1000 as pause from webhook_queue where webhook_id = ${id}`
  // The duration has whole milliseconds.
  const pause = Number(row?.["pause"]) + 0.001
  assert.isTrue(pause >= seconds && pause < seconds + 15, `${pause} of ${seconds}`)
})

/** Requests a test of a webhook with an event's example. */
export const askTest = (
  node: RunningNode,
  key: string,
  { event = "email.sent", headers = {}, id }: {
    readonly id: number
    readonly event?: string
    readonly headers?: Readonly<Record<string, string>>
  }
) => node.request("POST", `/v1/webhooks/${id}/test`, { key, json: { event }, headers })

/** Requests a redelivery. */
export const askAgain = (node: RunningNode, key: string, id: number, delivery: unknown) =>
  node.request("POST", `/v1/webhooks/${id}/deliveries/${String(delivery)}/redeliver`, { key })

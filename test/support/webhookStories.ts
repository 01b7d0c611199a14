import { Effect } from "effect"
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

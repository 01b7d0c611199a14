import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { eventually, type RunningNode } from "./Service.ts"
import { longer } from "./waiting.ts"
import { WhatsApp } from "./WhatsApp.ts"

/** Environment of nodes that send without pauses or limits. */
export const unpaced = { WHATSAPP_PER_MINUTE: "0", WHATSAPP_PER_DAY: "0", WHATSAPP_PAUSE_MAX_MS: "0" }

/** Environment of nodes that may fetch files from the tests' servers. */
export const localFiles = { WHATSAPP_MEDIA_ALLOW_LOOPBACK: "true" }

/** Posts a message. */
export const send = (node: RunningNode, key: string, json: Readonly<Record<string, unknown>>) =>
  node.request("POST", "/v1/whatsapp/send", { key, json })

/** Posts a message and returns its id. */
export const accepted = Effect.fnUntraced(
  function*(node: RunningNode, key: string, json: Readonly<Record<string, unknown>>) {
    const answer = yield* send(node, key, json)
    assert.strictEqual(answer.status, 202, answer.text)
    return Number(answer.at("data", "message_id"))
  }
)

/** The record of a message, once it has this status. */
export const untilMessage = Effect.fnUntraced(function*(node: RunningNode, key: string, id: number, status: string) {
  const answer = yield* eventually(
    node.request("GET", `/v1/whatsapp/messages/${id}`, { key }),
    ({ at }) => at("data", "status") === status,
    longer.turn
  )
  return answer.at("data") as Readonly<Record<string, unknown>>
})

/** The messages that a phone has from a number, once there are `n`. */
export const untilArrived = Effect.fnUntraced(function*(number: string, from: string, n: number) {
  const { simulator } = yield* WhatsApp
  return yield* eventually(
    Effect.sync(() => simulator.controls.messages(number).filter((message) => message.from === from)),
    ({ length }) => length >= n,
    longer.turn
  )
})

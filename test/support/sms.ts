import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { asking } from "./bulkMail.ts"
import type { RunningNode } from "./Service.ts"

/** Posts an SMS and returns its id. */
export const sendSms = Effect.fnUntraced(function*(node: RunningNode, key: string, json: unknown) {
  const answer = yield* node.request("POST", "/v1/sms/send", { key, json })
  assert.strictEqual(answer.status, 202, answer.text)
  return Number(answer.at("data", "message_id"))
})

/** The SMS's record, once it has one of these statuses. */
export const smsReaching = (
  node: RunningNode,
  { id, key, statuses }: { readonly id: number; readonly key: string; readonly statuses: ReadonlyArray<string> }
) =>
  Effect.map(
    asking(
      node.request("GET", `/v1/sms/messages/${id}`, { key }),
      ({ at }) => statuses.includes(String(at("data", "status")))
    ),
    ({ at }) => Object(at("data")) as Readonly<Record<string, unknown>>
  )

/** The texts on the sandbox's phone with this number. */
export const phoneOf = (node: RunningNode, number: string) =>
  Effect.map(
    node.request("GET", `/sandbox/sms?to=${encodeURIComponent(number)}`, { headers: { accept: "application/json" } }),
    ({ at }) => Object(at("data")) as ReadonlyArray<Readonly<Record<string, unknown>>>
  )

let serial = 0

/** A mobile number of Rwanda that no other test uses. */
export const freshNumber = () => `+25078${String(8_000_000 + serial++).padStart(7, "0")}`

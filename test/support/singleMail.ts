import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { asking } from "./bulkMail.ts"
import { makeAccount, type RunningNode } from "./Service.ts"
import { signedEvent } from "./signedEvent.ts"
import { longer } from "./waiting.ts"
import { makeWebhookReceiver } from "./WebhookReceiver.ts"

/** Posts an email and returns its id. */
export const sendEmail = Effect.fnUntraced(function*(node: RunningNode, key: string, json: unknown) {
  const answer = yield* node.request("POST", "/v1/email/send", { key, json })
  assert.strictEqual(answer.status, 202, answer.text)
  return Number(answer.at("data", "id"))
})

/** The email's record, once it has one of these statuses. */
export const reaching = (
  node: RunningNode,
  { id, key, statuses }: { readonly id: number; readonly key: string; readonly statuses: ReadonlyArray<string> }
) =>
  Effect.map(
    asking(
      node.request("GET", `/v1/email/messages/${id}`, { key }),
      ({ at }) => statuses.includes(String(at("data", "status")))
    ),
    ({ at }) => Object(at("data")) as Readonly<Record<string, unknown>>
  )

/**
 * An account with a webhook for these events; `received` returns them once there are this many, in the order in which they
 * happened: several are delivered at once.
 */
export const makeListener = Effect.fnUntraced(function*(node: RunningNode, events: ReadonlyArray<string>) {
  const account = yield* makeAccount()
  const receiver = yield* makeWebhookReceiver()
  const json = { url: `${receiver.url}/hook`, events }
  const hook = yield* node.request("POST", "/v1/webhooks", { key: account.key, json })
  const secret = String(hook.at("data", "secret"))
  const received = (count: number) =>
    Effect.map(
      receiver.received(count, longer.turn),
      (requests) =>
        requests.map((request) => signedEvent(request, secret)).toSorted((one, other) =>
          one.timestamp < other.timestamp ? -1 : Number(one.timestamp > other.timestamp)
        )
    )
  return { ...account, received }
})

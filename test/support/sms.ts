import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
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

/** The secret in `callbackPath`. */
export const callbackSecret = "a-secret-of-tests-1"

/** Where the provider of `httpProvider` reports what became of an SMS. */
export const callbackPath = `/v1/callbacks/sms/double/${callbackSecret}`

/** The environment of a node whose SMS provider is a test server, configured by a profile file. */
export const httpProvider = Effect.fnUntraced(
  function*(url: string) {
    const fs = yield* FileSystem.FileSystem
    const file = yield* fs.makeTempFileScoped({ suffix: ".json" })
    yield* fs.writeFileString(
      file,
      JSON.stringify({
        name: "double",
        url,
        headers: { authorization: "App KEY" },
        encoding: "json",
        body: { to: "{{to}}", text: "{{text}}", ref: "{{message_id}}", callback: "{{callback_url}}" },
        id: "id",
        error: "error",
        receipt: {
          secret: callbackSecret,
          id: "id",
          status: "status",
          delivered: ["delivered"],
          failed: ["failed"],
          error: "code"
        }
      })
    )
    return { SMS_PROVIDER: "http", SMS_HTTP_PROFILE: file }
  },
  Effect.orDie,
  Effect.provide(NodeFileSystem.layer)
)

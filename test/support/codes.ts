import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { asking } from "./bulkMail.ts"
import { eventually, type RunningNode } from "./Service.ts"
import { phoneOf } from "./sms.ts"

/** A request for or with a code, and the API key. */
export interface AskedCode {
  readonly key: string
  readonly json: Readonly<Record<string, unknown>>
}

/** Requests a code and returns the verification's id. */
export const sendCode = Effect.fnUntraced(function*(node: RunningNode, { json, key }: AskedCode) {
  const answer = yield* node.request("POST", "/v1/verify/send", { key, json })
  assert.strictEqual(answer.status, 201, answer.text)
  return { id: String(answer.at("data", "id")), answer }
})

/** Checks a code. */
export const checkCode = (node: RunningNode, { json, key }: AskedCode) =>
  node.request("POST", "/v1/verify/check", { key, json })

/** The code in a text, or an empty string. */
const codeIn = (text: unknown) => /\b\d{4,8}\b/.exec(String(text))?.[0] ?? ""

/** The texts in the sandbox's inbox or phone of a recipient, newest first, once there are this many. */
export const textsFor = Effect.fnUntraced(function*(node: RunningNode, to: string, count = 1) {
  const json = { headers: { accept: "application/json" } }
  if (!to.includes("@")) {
    const shown = yield* eventually(phoneOf(node, to), (texts) => texts.length >= count)
    return shown.map(({ text }) => String(text))
  }
  const list = yield* asking(
    node.request("GET", `/sandbox/mail?to=${encodeURIComponent(to)}`, json),
    ({ at }) => Number(at("meta", "total")) >= count
  )
  const ids = Object(list.at("data")) as ReadonlyArray<{ readonly id: number }>
  const mails = yield* Effect.forEach(ids, ({ id }) => node.request("GET", `/sandbox/mail/${id}`, json))
  return mails.map(({ at }) => String(at("data", "text")))
})

/** The newest code sent to a recipient, once there are this many. */
export const codeFor = (node: RunningNode, to: string, count = 1) =>
  Effect.map(textsFor(node, to, count), ([text]) => codeIn(text))

/** A wrong code of the same length. */
export const wrong = (code: string) => code.replace(/\d$/, (digit) => String((Number(digit) + 1) % 10))

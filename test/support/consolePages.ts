/** Every page of the console, found by its list and by following links. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { pages } from "../../src/console/pages/pages.ts"
import type { AccountId } from "../../src/values/Ids.ts"
import { fill } from "../contract/contract.ts"
import { connectedSession, samples } from "../contract/samples.ts"
import { Service } from "./Service.ts"

/** One thing of each kind, made through the API. */
export const fillAccount = Effect.fnUntraced(function*(key: string) {
  const { request } = yield* Service
  const session_id = yield* connectedSession(request, key)
  for (
    const path of [
      "/v1/webhooks",
      "/v1/email/domains",
      "/v1/email/templates",
      "/v1/email/suppressions",
      "/v1/email/send",
      "/v1/email/send-bulk",
      "/v1/sms/send",
      "/v1/sms/send-bulk",
      "/v1/verify/send",
      "/v1/whatsapp/send",
      "/v1/whatsapp/send-bulk",
      "/v1/api-keys"
    ]
  ) {
    const sample = samples[`POST ${path}`]
    const json = path.startsWith("/v1/whatsapp") ? { ...Object(sample), session_id } : sample
    const { status, text } = yield* request("POST", path, { key, json })
    assert.isBelow(status, 300, `${path}: ${text}`)
  }
  const templates = yield* request("GET", "/v1/email/templates", { key })
  const template = String(templates.at("data", 0, "id"))
  yield* request("PUT", `/v1/email/templates/${template}`, { key, json: { subject: "Welcome, {{name}}" } })
})

/** The paths that a page's links lead to, without their queries. */
const linksOf = (markup: string, below: string) =>
  [...markup.matchAll(/href="([^"?#]*)/g)].flatMap(([, href = ""]) => href.startsWith(below) ? [href] : [])

/** Every page, once with an id that does not exist, and all that the links lead to. The query goes with each. */
export const everyPage = Effect.fnUntraced(
  function*({ accountId, cookie, query }: {
    readonly accountId: AccountId
    readonly cookie: string
    readonly query: string
  }) {
    const { request } = yield* Service
    const base = `/console/${accountId}`
    const waiting = pages.map(({ kind, path }) => `${kind === "account" ? base : "/console"}${fill(path, 1)}`)
    const found = new Map<string, string>()
    const seen = new Set<string>()
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      if (seen.has(path)) continue
      seen.add(path)
      const { headers, text } = yield* request("GET", `${path}${query}`, { headers: { cookie } })
      if (headers["content-type"]?.startsWith("text/html") !== true) continue
      waiting.push(...linksOf(text, `${base}/`))
      found.set(path, text)
    }
    assert.isAbove(found.size, pages.length)
    return found
  }
)

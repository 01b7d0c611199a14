import { Effect } from "effect"
import { eventually, type RunningNode } from "../support/Service.ts"

/** A body that each endpoint takes whose schema has required fields. The contract tests refuse an endpoint without. */
export const samples: Readonly<Record<string, unknown>> = {
  "POST /v1/auth/register": { name: "Ada", email: "ada@example.com", password: "correct horse battery" },
  "POST /v1/auth/login": { email: "nobody@example.com", password: "wrong horse battery" },
  "POST /v1/api-keys": { name: "Second" },
  "POST /v1/webhooks": { url: "http://127.0.0.1:59999/hook", events: ["*"] },
  "POST /v1/email/send-bulk": { recipients: ["ada@example.com"], subject: "Hello", html: "<p>Hello</p>" }
}

type Request = RunningNode["request"]

const created = Effect.fnUntraced(function*(request: Request, key: string, path: string) {
  const answer = yield* request("POST", path, { key, json: samples[`POST ${path}`] })
  return String(answer.at("data", "id") ?? answer.at("data", "batch_id"))
})

/** What makes a row that exists for one account, by the path that reads it: the ids for its parameters in their order. */
const rows: Readonly<
  Record<string, (request: Request, key: string) => Effect.Effect<ReadonlyArray<string>>>
> = {
  "/v1/api-keys/:id": (request, key) => Effect.map(created(request, key, "/v1/api-keys"), (id) => [id]),
  "/v1/webhooks/:id": (request, key) => Effect.map(created(request, key, "/v1/webhooks"), (id) => [id]),
  "/v1/webhooks/:id/deliveries/:delivery_id": Effect.fnUntraced(function*(request, key) {
    const id = yield* created(request, key, "/v1/webhooks")
    yield* created(request, key, "/v1/email/send-bulk")
    const list = yield* eventually(
      request("GET", `/v1/webhooks/${id}/deliveries`, { key }),
      ({ at }) => at("data", 0) !== undefined
    )
    return [id, String(list.at("data", 0, "id"))]
  }),
  "/v1/email/batches/:batch_id": (request, key) =>
    Effect.map(created(request, key, "/v1/email/send-bulk"), (id) => [id])
}

/** The maker for a path: that of the longest path that it begins with. */
export const rowFor = (path: string) =>
  Object.entries(rows)
    .filter(([start]) => path === start || path.startsWith(`${start}/`))
    .toSorted(([a], [b]) => b.length - a.length)[0]?.[1]

import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { Draining } from "../http/Draining.ts"

const say = (status: number, body: Readonly<Record<string, string>>) => HttpServerResponse.jsonUnsafe(body, { status })

/**
 * For load balancers: `/health/live` answers while the process runs; `/health/ready` also wants the database to answer
 * within two seconds and this node not to be leaving.
 */
export const Health = HttpRouter.use(Effect.fnUntraced(function*(router) {
  const sql = yield* SqlClient.SqlClient
  const draining = yield* Draining
  const database = sql`select 1`.pipe(
    Effect.timeout("2 seconds"),
    Effect.match({ onSuccess: () => "ok", onFailure: () => "unavailable" })
  )
  yield* router.add("GET", "/health/live", Effect.succeed(say(200, { status: "ok" })))
  yield* router.add(
    "GET",
    "/health/ready",
    Effect.gen(function*() {
      if (yield* draining.begun) return say(503, { status: "draining" })
      const state = yield* database
      return say(state === "ok" ? 200 : 503, { status: state === "ok" ? "ok" : "unavailable", database: state })
    })
  )
}))

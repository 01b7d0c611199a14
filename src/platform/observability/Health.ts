import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { databaseAnswers } from "../database/databaseAnswers.ts"
import { Draining } from "../http/RequestPipeline.ts"

const say = (status: number, body: Readonly<Record<string, string>>) => HttpServerResponse.jsonUnsafe(body, { status })

/**
 * For load balancers: `/health/live` answers while the process runs; `/health/ready` also wants the database to answer
 * within two seconds and this node not to be leaving.
 */
export const Health = HttpRouter.use(Effect.fnUntraced(function*(router) {
  const databaseIsThere = yield* databaseAnswers
  const draining = yield* Draining
  yield* router.add("GET", "/health/live", Effect.succeed(say(200, { status: "ok" })))
  yield* router.add(
    "GET",
    "/health/ready",
    Effect.gen(function*() {
      if (yield* draining.begun) return say(503, { status: "draining" })
      const isThere = yield* databaseIsThere("2 seconds")
      const state = isThere ? "ok" : "unavailable"
      return say(isThere ? 200 : 503, { status: state, database: state })
    })
  )
}))

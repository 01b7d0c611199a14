import { Effect, Predicate } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { upstreams } from "../config/Upstreams.ts"
import { DatabaseProbe } from "../database/DatabaseProbe.ts"
import { FreeSpace } from "../database/FreeSpace.ts"
import { Outages } from "../database/Outages.ts"
import { Draining } from "../http/ready/Draining.ts"
import { QuickAnswers } from "../http/ready/QuickAnswers.ts"
import { Overload } from "../work/Overload.ts"

const respond = (status: number, body: Readonly<Record<string, unknown>>) =>
  HttpServerResponse.jsonUnsafe(body, { status })

const alive = { status: "ok" }

/** The state of this node: `unavailable` if the database does not answer. */
export const readiness = Effect.gen(function*() {
  const { takesWrites } = yield* DatabaseProbe
  const outages = yield* Outages
  const { hasBegun } = yield* Draining
  const state = Effect.gen(function*() {
    if (hasBegun()) return "draining"
    return (yield* takesWrites("2 seconds")) && !(yield* outages.isRecent) ? "ok" : "unavailable"
  })
  return { state }
})

/**
 * Health checks for load balancers. `/health/live` returns 200 while the process runs. `/health/ready` also requires that
 * the database answers and takes writes within two seconds, that it has failed no request of this node in the last five
 * seconds, and that this node is not draining. It also says what each channel sends to.
 * `storage: "low"` does not fail it: the node still reads and sends. Neither does `load: "high"`, while the node refuses
 * messages: without it, the other nodes would have its load as well.
 */
export const Health = HttpRouter.use(Effect.fnUntraced(function*(router) {
  const ready = yield* readiness
  const { smsProvider, smtpUrl, whatsappUrl } = yield* upstreams
  const channels = {
    email: smtpUrl === "sandbox" ? smtpUrl : "smtp",
    sms: smsProvider,
    whatsapp: Predicate.isString(whatsappUrl) ? whatsappUrl : "server"
  }
  const { isLow } = yield* FreeSpace
  const overload = yield* Overload
  yield* router.add("GET", "/health/live", Effect.succeed(respond(200, alive)))
  const live = {
    status: 200,
    headers: { "content-type": "application/json" },
    bytes: Buffer.from(`${JSON.stringify(alive)}\n`)
  }
  yield* (yield* QuickAnswers).add("/health/live", () => live)
  yield* router.add(
    "GET",
    "/health/ready",
    Effect.gen(function*() {
      const state = yield* ready.state
      if (state === "draining") return respond(503, { status: state })
      const storage = (yield* isLow) ? "low" : "ok"
      const load = (yield* overload.isRecent) ? "high" : "ok"
      return respond(state === "ok" ? 200 : 503, { status: state, database: state, storage, load, channels })
    })
  )
}))

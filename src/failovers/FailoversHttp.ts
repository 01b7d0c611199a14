import { Effect, Layer } from "effect"
import { eraseRows, type ErasureStep } from "../accounts/Erasure.ts"
import { Principal } from "../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../platform/http/baseContract.ts"
import { created } from "../platform/http/RequestContext.ts"
import { FailoverActor, FailoverSweeper } from "./FailoverActor.ts"
import { FailoverProgress } from "./FailoverProgress.ts"
import { Failovers } from "./Failovers.ts"
import { FailoversApi } from "./FailoversApi.ts"

/** Serves {@link FailoversApi}. */
const FailoversHttp = endpointGroup(
  baseContract.add(FailoversApi),
  "failovers",
  (handlers) =>
    Effect.gen(function*() {
      const failovers = yield* Failovers
      return handlers.handleAll({
        send: Effect.fnUntraced(function*({ payload }) {
          const accepted = yield* failovers.send(yield* Principal, payload)
          yield* created(`/v1/messages/${accepted.id}`)
          return { success: true as const, data: accepted }
        }),
        find: Effect.fnUntraced(function*({ params }) {
          return { data: yield* failovers.find(yield* Principal, params.failover_id) }
        }),
        cancel: Effect.fnUntraced(function*({ params }) {
          return { success: true as const, data: yield* failovers.cancel(yield* Principal, params.failover_id) }
        }),
        reschedule: Effect.fnUntraced(function*({ params, payload }) {
          return { data: yield* failovers.reschedule(yield* Principal, params.failover_id, payload.send_at) }
        })
      })
    })
)

/** Steps and signals go with their failover. */
export const failoversErasure: ErasureStep = { name: "failovers", some: eraseRows("failovers") }

/** Messages with failover: their endpoints, actors and sweeper. */
export const FailoversLayer = Layer.mergeAll(
  FailoversHttp.pipe(Layer.provideMerge(Failovers.layer)),
  FailoverActor,
  FailoverSweeper
).pipe(Layer.provide(FailoverProgress.layer))

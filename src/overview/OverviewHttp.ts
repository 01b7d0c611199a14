import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Database } from "../platform/database/Database.ts"
import { Principal } from "../platform/http/Authentication.ts"
import { baseContract } from "../platform/http/baseContract.ts"
import { PeriodicTask } from "../platform/work/PeriodicTask.ts"
import { Attention } from "./Attention.ts"
import { OverviewApi } from "./OverviewApi.ts"
import { Statistics } from "./Statistics.ts"

const OverviewHttp = HttpApiBuilder.group(
  baseContract.add(OverviewApi),
  "overview",
  (handlers) =>
    Effect.gen(function*() {
      const statistics = yield* Statistics
      const attention = yield* Attention
      return handlers.handleAll({
        stats: Effect.fnUntraced(function*({ query }) {
          const { accountId } = yield* Principal
          return { data: yield* statistics.read(accountId, query) }
        }),
        attention: Effect.fnUntraced(function*() {
          const { accountId } = yield* Principal
          return { data: yield* attention.of(accountId) }
        })
      })
    })
)

/** Moves new counts into the statistics. */
const StatisticsTask = Database.onMaintenancePool(
  PeriodicTask.make("MessageStatistics", "10 seconds", Effect.flatMap(Statistics, ({ roll }) => roll)).pipe(
    Layer.provide(Statistics.layer)
  )
)

/** What an account sees at a glance. */
export const OverviewLayer = Layer.merge(
  OverviewHttp.pipe(Layer.provideMerge(Attention.layer), Layer.provideMerge(Statistics.layer)),
  StatisticsTask
)

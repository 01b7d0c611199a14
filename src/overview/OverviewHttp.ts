import { Effect, Layer } from "effect"
import { Database } from "../platform/database/Database.ts"
import { Principal } from "../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../platform/http/baseContract.ts"
import { PeriodicTask } from "../platform/work/PeriodicTask.ts"
import { Attention } from "./Attention.ts"
import type { AttentionItem } from "./attentionOf.ts"
import { OverviewApi } from "./OverviewApi.ts"
import { Statistics } from "./Statistics.ts"

/** Webhooks and keys belong to no channel: a key sees what they need only if it may list them. */
const isShownTo = ({ permissions, scopes }: Principal["Service"]) => ({ code }: AttentionItem): boolean => {
  const needed = code.startsWith("webhook_") ? "webhooks:read" : code.startsWith("key_") ? "keys:read" : undefined
  return needed === undefined || (scopes.length === 0 && (permissions.length === 0 || permissions.includes(needed)))
}

const OverviewHttp = endpointGroup(
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
          const principal = yield* Principal
          const { items } = yield* attention.of(principal.accountId)
          return { data: items.filter(isShownTo(principal)) }
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

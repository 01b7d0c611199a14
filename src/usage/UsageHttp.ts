import { Effect, Layer } from "effect"
import { Principal } from "../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../platform/http/baseContract.ts"
import { Quotas } from "./Quotas.ts"
import { Usage } from "./Usage.ts"
import { UsageAlerts, UsageAlertTasks } from "./UsageAlerts.ts"
import { UsageApi } from "./UsageApi.ts"
import { UsageReports } from "./UsageReports.ts"

/** Handlers of {@link UsageApi}. */
const UsageHttp = endpointGroup(
  baseContract.add(UsageApi),
  "usage",
  (handlers) =>
    Effect.gen(function*() {
      const reports = yield* UsageReports
      return handlers.handleAll({
        current: Effect.fnUntraced(function*({ query }) {
          const { accountId } = yield* Principal
          return { data: yield* reports.usage(accountId, query) }
        }),
        daily: Effect.fnUntraced(function*({ query: { granularity = "day", ...period } }) {
          const { accountId } = yield* Principal
          return { data: yield* reports.inTime(accountId, period, granularity) }
        }),
        billing: Effect.fnUntraced(function*({ query: { granularity = "month", ...period } }) {
          const { accountId } = yield* Principal
          return { data: yield* reports.billing(accountId, period, granularity) }
        })
      })
    })
)

/** Usage, quotas, their endpoints and notices. */
export const UsageLayer = Layer.mergeAll(
  UsageHttp.pipe(Layer.provideMerge(UsageReports.layer)),
  UsageAlertTasks.pipe(Layer.provide(UsageAlerts.layer))
).pipe(Layer.provideMerge(Layer.merge(Usage.layer, Quotas.layer)))

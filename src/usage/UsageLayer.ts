import { Layer } from "effect"
import { Quotas } from "./Quotas.ts"
import { Usage } from "./Usage.ts"
import { UsageAlerts, UsageAlertTasks } from "./UsageAlerts.ts"
import { UsageHttp } from "./UsageHttp.ts"
import { UsageReports } from "./UsageReports.ts"

/** Usage, quotas, their endpoints and notices. */
export const UsageLayer = Layer.mergeAll(
  UsageHttp.pipe(Layer.provide(UsageReports.layer)),
  UsageAlertTasks.pipe(Layer.provide(UsageAlerts.layer))
).pipe(Layer.provideMerge(Layer.merge(Usage.layer, Quotas.layer)))

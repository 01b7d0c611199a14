import { Layer } from "effect"
import { Quotas } from "./Quotas.ts"
import { Usage } from "./Usage.ts"
import { UsageAlertChores, UsageAlerts } from "./UsageAlerts.ts"
import { UsageHttp } from "./UsageHttp.ts"
import { UsageReports } from "./UsageReports.ts"

/** What accounts use, how much they may, the endpoints that tell them, and the mails. */
export const UsageLayer = Layer.mergeAll(
  UsageHttp.pipe(Layer.provide(UsageReports.layer)),
  UsageAlertChores.pipe(Layer.provide(UsageAlerts.layer))
).pipe(Layer.provideMerge(Layer.merge(Usage.layer, Quotas.layer)))

import { Array, Context, Effect, Layer } from "effect"
import { Notices } from "../accounts/Notices.ts"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { Database } from "../platform/database/Database.ts"
import { PeriodicTask } from "../platform/work/PeriodicTask.ts"
import { Plan } from "../values/Plan.ts"
import { Metered } from "./Metric.ts"
import { Quotas } from "./Quotas.ts"
import { type Threshold, UsageAlertsRepo } from "./UsageAlertsRepo.ts"
import { crossedNotice, digestNotice } from "./usageNotices.ts"

/** Tells owners of what they use. What was told is noted in the transaction that writes the notice: each once. */
export class UsageAlerts extends Context.Service<UsageAlerts, {
  /** Tells of quotas that are used to 80 and to 100 percent, and of high volumes, once a month each. */
  readonly alert: Effect.Effect<void>
  /** Tells those who want it what they used last week, on Monday from 8 o'clock on where they are. */
  readonly digest: Effect.Effect<void>
}>()("messaging-service/usage/UsageAlerts") {
  static readonly layer = Layer.effect(
    UsageAlerts,
    Effect.gen(function*() {
      const { transaction } = yield* Database
      const notices = yield* Notices
      const quotas = yield* Quotas
      const { highVolumeSms } = yield* AppConfig
      const repo = yield* UsageAlertsRepo

      const thresholds = Plan.literals.flatMap((plan): ReadonlyArray<Threshold> => [
        ...Metered.literals.flatMap((metric): ReadonlyArray<Threshold> => {
          const limit = quotas.limit(plan, metric)
          // Nothing is left of a quota of none from the start.
          if (limit === undefined || limit === 0) return []
          return [
            { plan, metric, limit, kind: "warning", from: Math.ceil(limit * 0.8) },
            { plan, metric, limit, kind: "reached", from: limit }
          ]
        }),
        { plan, metric: "sms", limit: highVolumeSms, kind: "high_volume", from: highVolumeSms + 1 }
      ])

      const alert = transaction(Effect.gen(function*() {
        const crossed = yield* repo.cross(thresholds)
        // Who has reached the end since the last look need not read that it comes near.
        const news = crossed.filter(({ account_id, kind, metric }) =>
          kind !== "warning" ||
          !crossed.some((other) =>
            other.account_id === account_id && other.metric === metric && other.kind === "reached"
          )
        )
        for (const one of news) {
          if (one.kind === "high_volume") {
            yield* Effect.logInfo("an account sends enough for a price of its own").pipe(
              Effect.annotateLogs({ account: one.account_id, sms: one.used })
            )
          }
          yield* notices.enqueue(crossedNotice(one))
        }
      })).pipe(Effect.withSpan("UsageAlerts.alert"))

      const digest = transaction(Effect.gen(function*() {
        const rows = yield* repo.endWeeks()
        for (const ofOne of Object.values(Array.groupBy(rows, ({ account_id }) => String(account_id)))) {
          yield* notices.enqueue(digestNotice(ofOne[0].account_id, ofOne))
        }
      })).pipe(Effect.withSpan("UsageAlerts.digest"))

      return UsageAlerts.of({ alert, digest })
    })
  ).pipe(Layer.provide(UsageAlertsRepo.layer))
}

/** Looks at the usage of all accounts, on one node of the cluster. */
export const UsageAlertChores = Layer.unwrap(
  Effect.map(
    UsageAlerts,
    ({ alert, digest }) =>
      Layer.merge(
        PeriodicTask.make("UsageAlerts", "1 minute", alert),
        PeriodicTask.make("UsageDigests", "1 minute", digest)
      )
  )
)

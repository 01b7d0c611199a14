import { Array, Context, Effect, Layer, Schema } from "effect"
import { Notices } from "../accounts/notices/Notices.ts"
import { domainEvent, Events } from "../events/Events.ts"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { Database } from "../platform/database/Database.ts"
import { PeriodicTask } from "../platform/work/PeriodicTask.ts"
import { Plan } from "../values/Plan.ts"
import { Quotas } from "./Quotas.ts"
import { type Crossed, type Threshold, UsageAlertsRepo } from "./UsageAlertsRepo.ts"
import { crossedNotice, digestNotice } from "./usageNotices.ts"
import { Metered } from "./UsageReport.ts"

/** A high volume is no quota, and the metrics of quotas are the metered ones. */
const quotaEvents = ({ account_id: accountId, kind, limit, metric, used }: Crossed) => {
  if (kind === "high_volume" || !Schema.is(Metered)(metric)) return []
  const event = kind === "warning" ? "account.quota_warning" : "account.quota_reached"
  return [domainEvent({ accountId, event, data: { metric, used, limit } })]
}

/**
 * Sends owners notices about their usage. The transaction that writes a notice also records it, so each is sent once.
 */
export class UsageAlerts extends Context.Service<UsageAlerts, {
  /** Sends notices about quotas used to 80 and to 100 percent and about high volumes, each once a month and limit. */
  readonly alert: Effect.Effect<void>
  /** Sends last week's usage to owners who want it, on Monday from 8 o'clock in their timezone, and not before 0 o'clock UTC. */
  readonly digest: Effect.Effect<void>
}>()("messaging-service/usage/UsageAlerts") {
  static readonly layer = Layer.effect(
    UsageAlerts,
    Effect.gen(function*() {
      const { transaction } = yield* Database
      const events = yield* Events
      const notices = yield* Notices
      const quotas = yield* Quotas
      const { highVolumeSms } = yield* AppConfig
      const repo = yield* UsageAlertsRepo

      const thresholds = Plan.literals.flatMap((plan): ReadonlyArray<Threshold> => [
        ...Metered.literals.flatMap((metric): ReadonlyArray<Threshold> => {
          const limit = quotas.limitOfPlan(plan, metric)
          // A quota of 0 needs no warning.
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
        // An owner whose quota is used up needs no warning that it will be.
        const due = crossed.filter(({ account_id, kind, metric }) =>
          kind !== "warning" ||
          !crossed.some((other) =>
            other.account_id === account_id && other.metric === metric && other.kind === "reached"
          )
        )
        for (const one of due) {
          if (one.kind === "high_volume") {
            yield* Effect.logInfo("account qualifies for volume pricing").pipe(
              Effect.annotateLogs({ account: one.account_id, sms: one.used })
            )
          }
          yield* notices.enqueue(crossedNotice(one))
          yield* events.publish(quotaEvents(one))
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

/** Checks the usage of all accounts, on one node of the cluster. */
export const UsageAlertTasks = Layer.unwrap(
  Effect.map(
    UsageAlerts,
    ({ alert, digest }) =>
      Layer.merge(
        PeriodicTask.make("UsageAlerts", "1 minute", alert),
        PeriodicTask.make("UsageDigests", "1 minute", digest)
      )
  )
)

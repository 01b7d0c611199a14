import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../platform/config/AppConfig.ts"
import * as Query from "../platform/database/Query.ts"
import { type Capacity, PlanLimitExceeded } from "../platform/http/ApiErrors.ts"
import { AccountId } from "../values/Ids.ts"
import { Plan } from "../values/Plan.ts"

/** How many of each resource a plan allows at a time. Undefined means no limit. */
const limitsFrom = (
  config: AppConfig["Service"]
): Readonly<Record<Capacity, Readonly<Record<Plan, number | undefined>>>> => ({
  whatsapp_sessions: {
    starter: config.whatsappSessionLimitStarter,
    growth: config.whatsappSessionLimitGrowth,
    business: config.whatsappSessionLimitBusiness,
    enterprise: config.whatsappSessionLimitEnterprise
  },
  webhooks: {
    starter: config.webhookLimitStarter,
    growth: config.webhookLimitGrowth,
    business: config.webhookLimitBusiness,
    enterprise: config.webhookLimitEnterprise
  },
  email_domains: {
    starter: config.domainLimitStarter,
    growth: config.domainLimitGrowth,
    business: config.domainLimitBusiness,
    enterprise: config.domainLimitEnterprise
  },
  templates: {
    starter: config.templateLimitStarter,
    growth: config.templateLimitGrowth,
    business: config.templateLimitBusiness,
    enterprise: config.templateLimitEnterprise
  }
})

/** The limits of plans on what an account has at a time, such as webhooks. The limit on API keys is fixed (spec 8). */
export class PlanLimits extends Context.Service<PlanLimits, {
  /**
   * Refuses one more of a resource. `counting` returns the current number. Concurrent callers for the account wait until
   * the transaction ends, which must also write the new row.
   */
  readonly requireCapacity: <E, R>(
    accountId: AccountId,
    of: Capacity,
    counting: Effect.Effect<number, E, R>
  ) => Effect.Effect<void, E | PlanLimitExceeded, R>
  /** Plans without a limit, whose rows are written without waiting for each other. */
  readonly unlimited: (of: Capacity) => ReadonlyArray<Plan>
}>()("messaging-service/accounts/PlanLimits") {
  static readonly layer = Layer.effect(
    PlanLimits,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const limits = limitsFrom(yield* AppConfig)

      const lockAccount = Query.findOneOption({
        Request: AccountId,
        Result: Schema.Struct({ plan: Plan }),
        execute: (id) => sql`select plan from accounts where id = ${id} for no key update`
      })

      return PlanLimits.of({
        unlimited: (of) => Plan.literals.filter((plan) => limits[of][plan] === undefined),
        requireCapacity: Effect.fn("PlanLimits.requireCapacity")(function*<E, R>(
          accountId: AccountId,
          of: Capacity,
          counting: Effect.Effect<number, E, R>
        ) {
          const account = yield* lockAccount(accountId)
          // A deleted account may add nothing.
          const limit = Option.isNone(account) ? 0 : limits[of][account.value.plan]
          if (limit === undefined) return
          // After the lock: a statement that waits for a lock sees the rows of the time of its start.
          const current = yield* counting
          if (current >= limit) return yield* new PlanLimitExceeded({ limit, current, resource: of })
        })
      })
    })
  )
}

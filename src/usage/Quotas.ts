import { Context, Effect, Layer } from "effect"
import { EmailQuotaExceeded } from "../accounts/AccountErrors.ts"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { PlanLimitExceeded } from "../platform/http/ApiErrors.ts"
import type { AccountId } from "../values/Ids.ts"
import { Plan } from "../values/Plan.ts"
import { isTest, type Mode, modeOf } from "../values/TestMode.ts"
import { UsageRepo, type Wanted } from "./UsageRepo.ts"
import type { Metered } from "./UsageReport.ts"

/** The refusal of a request above the quota, by metric. */
export interface QuotaExceeded {
  readonly email: EmailQuotaExceeded
  readonly sms: PlanLimitExceeded
  readonly otp: PlanLimitExceeded
}

/** The use of a quota that a request exceeds, and the time that it is for. */
interface Spent {
  readonly limit: number
  readonly current: number
  readonly mode: Mode
}

const timed = (resource: "sms" | "otp") => ({ mode, ...spent }: Spent) =>
  new PlanLimitExceeded({ ...spent, resource, per: mode === "test" ? "day" : "month" })

const refusal: { readonly [M in Metered]: (spent: Spent) => QuotaExceeded[M] } = {
  email: ({ mode, ...spent }) =>
    new EmailQuotaExceeded({ ...spent, resource: "emails", ...(mode === "test" && { per: "day" }) }),
  sms: timed("sms"),
  otp: timed("otp")
}

/** The quota of each metric on each plan. */
const limitsFrom = (
  config: AppConfig["Service"]
): Readonly<Record<Metered, Readonly<Record<Plan, number | undefined>>>> => ({
  email: {
    starter: config.emailQuotaStarter,
    growth: config.emailQuotaGrowth,
    business: config.emailQuotaBusiness,
    enterprise: config.emailQuotaEnterprise
  },
  sms: {
    starter: config.smsQuotaStarter,
    growth: config.smsQuotaGrowth,
    business: config.smsQuotaBusiness,
    enterprise: config.smsQuotaEnterprise
  },
  otp: {
    starter: config.otpQuotaStarter,
    growth: config.otpQuotaGrowth,
    business: config.otpQuotaBusiness,
    enterprise: config.otpQuotaEnterprise
  }
})

/** The limit of a quota and its used part. */
export interface Quota {
  readonly limit: number
  readonly used: number
}

const spentOf = (accountId: number, { limit, used: current }: Quota): Spent => ({
  limit,
  current,
  mode: modeOf(accountId)
})

/**
 * For requests in sequence, the quota of each one that exceeded it; undefined for those that fit. A request that does
 * not fit uses nothing, so smaller ones after it may still fit.
 */
export const exceeding = (
  wanted: ReadonlyArray<Wanted>,
  quotas: ReadonlyMap<AccountId, Quota>
): ReadonlyArray<Quota | undefined> => {
  const left = new Map(quotas)
  return wanted.map(({ accountId, count }) => {
    const quota = left.get(accountId)
    if (quota === undefined) return undefined
    if (quota.used + count > quota.limit) return quota
    left.set(accountId, { ...quota, used: quota.used + count })
    return undefined
  })
}

/** The quotas of plans (spec 8), per calendar month (UTC). Test accounts have one quota per day on all plans. */
export class Quotas extends Context.Service<Quotas, {
  /** The limit of live accounts. Undefined means no limit. */
  readonly limitOfPlan: (plan: Plan, of: Metered) => number | undefined
  /** Undefined means no limit. */
  readonly limit: (account: { readonly id: AccountId; readonly plan: Plan }, of: Metered) => number | undefined
  /**
   * Counts the use of a request in the transaction that accepts it. The limit holds for concurrent requests. On a plan
   * with a limit, a second request waits for the first transaction to end, so call it last. Without a limit, requests
   * do not wait.
   */
  readonly reserve: <M extends Metered>(
    accountId: AccountId,
    metric: M,
    count: number
  ) => Effect.Effect<void, QuotaExceeded[M]>
  /**
   * The same for requests accepted together in one transaction: the refusal of each one that does not fit, and
   * undefined for counted ones. It never waits: `busy` means that another transaction has locked the account, or that
   * it was deleted. Call it before other writes to `usage_daily`.
   */
  readonly reserveEach: <M extends Metered>(
    metric: M,
    wanted: ReadonlyArray<Wanted>
  ) => Effect.Effect<ReadonlyArray<QuotaExceeded[M] | "busy" | undefined>>
}>()("messaging-service/usage/Quotas") {
  static readonly layer = Layer.effect(
    Quotas,
    Effect.gen(function*() {
      const repo = yield* UsageRepo
      const config = yield* AppConfig
      const limits = limitsFrom(config)
      const limitOf = ({ id, plan }: { readonly id: AccountId; readonly plan: Plan }, of: Metered) =>
        isTest(id) ? config.testQuotaPerDay : limits[of][plan]

      const limitsFor = Effect.fnUntraced(function*(ids: ReadonlyArray<AccountId>, of: Metered, wait: boolean) {
        const accounts = yield* repo.lockAccounts({ ids, wait })
        return new Map(accounts.map((account) => [account.id, limitOf(account, of) ?? Number.POSITIVE_INFINITY]))
      })

      const quotasOf = Effect.fnUntraced(function*(metric: Metered, asked: ReadonlyArray<AccountId>, wait: boolean) {
        const limitsById = yield* limitsFor(asked, metric, wait)
        // A deleted account has no quota.
        const accountIds = wait ? asked : [...limitsById.keys()]
        const rows = yield* repo.usedInPeriod({ accountIds, metric })
        const used = new Map(rows.map((row) => [row.account_id, row.used]))
        return new Map(accountIds.map((id): [AccountId, Quota] => [
          id,
          { limit: limitsById.get(id) ?? 0, used: used.get(id) ?? 0 }
        ]))
      })

      /** The quota of each request that does not fit. Without `wait`, locked accounts have no result. */
      const take = Effect.fnUntraced(function*(metric: Metered, wanted: ReadonlyArray<Wanted>, wait: boolean) {
        const plans = Plan.literals.filter((plan) => limits[metric][plan] === undefined)
        const added = yield* repo.addOnPlans({ metric, wanted, plans })
        const free = new Set(added.map((row) => row.account_id))
        const limited = [...new Set(wanted.flatMap(({ accountId }) => free.has(accountId) ? [] : [accountId]))]
        if (limited.length === 0) return wanted.map(() => undefined)
        const quotas = yield* quotasOf(metric, limited, wait)
        const exceeded = exceeding(wanted, quotas)
        const fitting = wanted.filter(({ accountId }, index) => quotas.has(accountId) && exceeded[index] === undefined)
        if (fitting.length > 0) yield* repo.add(fitting.map((each) => ({ ...each, metric })))
        return wanted.map(({ accountId }, index) =>
          free.has(accountId) || quotas.has(accountId) ? exceeded[index] : "busy" as const
        )
      })

      return Quotas.of({
        limitOfPlan: (plan, of) => limits[of][plan],
        limit: limitOf,
        reserve: Effect.fn("Quotas.reserve")(
          function*<M extends Metered>(accountId: AccountId, metric: M, count: number): Effect.fn.Return<
            void,
            QuotaExceeded[M]
          > {
            if (count === 0) return
            const [full] = yield* take(metric, [{ accountId, count }], true)
            if (full === undefined || full === "busy") return
            return yield* Effect.failSync(() => refusal[metric](spentOf(accountId, full)))
          }
        ),
        reserveEach: Effect.fn("Quotas.reserveEach")(
          function*<M extends Metered>(metric: M, wanted: ReadonlyArray<Wanted>): Effect.fn.Return<
            ReadonlyArray<QuotaExceeded[M] | "busy" | undefined>
          > {
            const taken = yield* take(metric, wanted, false)
            return taken.map((full, index) =>
              full === undefined || full === "busy"
                ? full
                : refusal[metric](spentOf(wanted[index]?.accountId ?? 0, full))
            )
          }
        )
      })
    })
  ).pipe(Layer.provide(UsageRepo.layer))
}

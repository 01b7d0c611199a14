import { Context, Effect, Layer, Option } from "effect"
import type { Account } from "../accounts/Account.ts"
import { Accounts } from "../accounts/Accounts.ts"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { NotFound, ValidationFailed } from "../platform/http/ApiErrors.ts"
import { type Day, type DayInput, momentOf } from "../values/Day.ts"
import type { AccountId } from "../values/Ids.ts"
import { type TagFilter, tagsOf } from "../values/Labels.ts"
import { Quotas } from "./Quotas.ts"
import { type BillingReport, type Granularity, Metered, type UsageReport, type UsedInTime } from "./UsageReport.ts"
import { UsageReportsRepo } from "./UsageReportsRepo.ts"

/** The requested period. Absent fields mean the current month. */
export interface AskedPeriod {
  readonly from_date?: DayInput | undefined
  readonly to_date?: DayInput | undefined
}

/** A period of messages with tags. */
export interface AskedUsage extends AskedPeriod, TagFilter {}

const maxDays = 366

/** Usage and costs for the accounts that read them. */
export class UsageReports extends Context.Service<UsageReports, {
  readonly usage: (accountId: AccountId, asked: AskedUsage) => Effect.Effect<UsageReport, NotFound | ValidationFailed>
  /** What the plan allows in this month, or a sandbox in this day, and what is left of it. */
  readonly quotas: (account: Pick<Account, "id" | "plan">) => Effect.Effect<UsageReport["quotas"]>
  /** Oldest first. */
  readonly inTime: (
    accountId: AccountId,
    asked: AskedUsage,
    granularity: Granularity
  ) => Effect.Effect<ReadonlyArray<UsedInTime>, ValidationFailed>
  readonly billing: (
    accountId: AccountId,
    period: AskedPeriod,
    granularity: Granularity
  ) => Effect.Effect<BillingReport, NotFound | ValidationFailed>
}>()("messaging-service/usage/UsageReports") {
  static readonly layer = Layer.effect(
    UsageReports,
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const quotas = yield* Quotas
      const { highVolumeSms } = yield* AppConfig
      const repo = yield* UsageReportsRepo

      const accountOf = Effect.fnUntraced(function*(id: AccountId) {
        const account = yield* accounts.find(id)
        return Option.isSome(account) ? account.value : yield* new NotFound({})
      })

      const spanOf = Effect.fnUntraced(function*({ from_date, to_date }: AskedPeriod) {
        const asked = {
          from: from_date === undefined ? null : momentOf(from_date),
          to: to_date === undefined ? null : momentOf(to_date)
        }
        const { days, ...span } = yield* repo.span(asked)
        if (days <= 0) return yield* ValidationFailed.of("to_date", `must be after from_date, which is ${span.from}`)
        if (days > maxDays) {
          return yield* ValidationFailed.of("from_date", `must be at most ${maxDays} days before to_date`)
        }
        return span
      })

      const usedBy = (accountId: AccountId, asked: TagFilter, span: {
        readonly from: Day
        readonly to: Day
        readonly granularity: Granularity | null
      }) => {
        const tags = tagsOf(asked)
        return tags === null
          ? repo.used({ accountId, ...span })
          : repo.usedWithTags({ accountId, ...span, tags })
      }

      const quotasOf = Effect.fn("UsageReports.quotas")(function*(account: Pick<Account, "id" | "plan">) {
        const { resets_at, used: spent } = yield* repo.inPeriod(account.id)
        return Metered.literals.map((resource) => {
          const limit = quotas.limit(account, resource) ?? null
          const used = spent[resource] ?? 0
          const remaining = limit === null ? null : Math.max(0, limit - used)
          return { resource, limit, used, remaining, resets_at }
        })
      })

      const usage = Effect.fn("UsageReports.usage")(function*(accountId: AccountId, asked: AskedUsage) {
        const { plan } = yield* accountOf(accountId)
        const period = yield* spanOf(asked)
        const used = yield* usedBy(accountId, asked, { ...period, granularity: null })
        const left = yield* quotasOf({ id: accountId, plan })
        return {
          period,
          plan,
          metrics: used.map(({ date: _, ...metric }) => metric),
          quotas: left,
          high_volume: left.some(({ resource, used }) => resource === "sms" && used > highVolumeSms)
        }
      })

      const billing = Effect.fn("UsageReports.billing")(
        function*(accountId: AccountId, asked: AskedPeriod, granularity: Granularity) {
          const { plan, status, trial_ends_at } = yield* accountOf(accountId)
          const period = yield* spanOf(asked)
          const used = yield* repo.used({ accountId, ...period, granularity })
          const priced = used.filter(({ cost_usd }) => cost_usd > 0)
          const micros = priced.reduce((sum, { cost_usd }) => sum + Math.round(cost_usd * 1_000_000), 0)
          return {
            plan,
            status,
            trial_ends_at,
            period,
            currency: "USD" as const,
            amount_usd: micros / 1_000_000,
            lines: priced.map(({ cost_usd, count, date, metric }) => ({
              date,
              metric,
              quantity: count,
              amount_usd: cost_usd
            }))
          }
        }
      )

      return UsageReports.of({
        usage,
        quotas: quotasOf,
        billing,
        inTime: Effect.fn("UsageReports.inTime")(function*(accountId, asked, granularity) {
          const span = yield* spanOf(asked)
          return yield* usedBy(accountId, asked, { ...span, granularity })
        })
      })
    })
  ).pipe(Layer.provide(UsageReportsRepo.layer))
}

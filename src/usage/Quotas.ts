import { Context, Effect, Layer } from "effect"
import { EmailQuotaExceeded } from "../accounts/AccountErrors.ts"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { PlanLimitExceeded } from "../platform/http/ApiErrors.ts"
import type { AccountId } from "../values/Ids.ts"
import { Plan } from "../values/Plan.ts"
import type { Metered } from "./Metric.ts"
import { UsageRepo, type Wanted } from "./UsageRepo.ts"

/** What is limited by the plan: by the month, or at once. */
export type Limited = Metered | "whatsapp_sessions"

/** The refusal of a request that does not fit: emails have one of their own. */
export interface QuotaExceeded {
  readonly email: EmailQuotaExceeded
  readonly sms: PlanLimitExceeded
  readonly otp: PlanLimitExceeded
}

const monthly = (resource: "sms" | "otp") => (limit: number, current: number) =>
  new PlanLimitExceeded({ limit, current, resource, per: "month" })

const refusal: { readonly [M in Metered]: (limit: number, current: number) => QuotaExceeded[M] } = {
  email: (limit, current) => new EmailQuotaExceeded({ limit, current, resource: "emails" }),
  sms: monthly("sms"),
  otp: monthly("otp")
}

/** For each of what is limited, what each plan allows. */
const limitsOf = (
  config: AppConfig["Service"]
): Readonly<Record<Limited, Readonly<Record<Plan, number | undefined>>>> => ({
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
  },
  whatsapp_sessions: {
    starter: config.whatsappSessionLimitStarter,
    growth: config.whatsappSessionLimitGrowth,
    business: config.whatsappSessionLimitBusiness,
    enterprise: config.whatsappSessionLimitEnterprise
  }
})

/** How much of a quota there is, and how much of it is used. */
export interface Room {
  readonly limit: number
  readonly used: number
}

/**
 * Of requests that come one after the other, each one's room when it did not fit any more, undefined where it did. One
 * that is too large takes nothing, and smaller ones after it may still fit. Total.
 */
export const overflowing = (
  wanted: ReadonlyArray<Wanted>,
  rooms: ReadonlyMap<AccountId, Room>
): ReadonlyArray<Room | undefined> => {
  const left = new Map(rooms)
  return wanted.map(({ accountId, count }) => {
    const room = left.get(accountId)
    if (room === undefined) return undefined
    if (room.used + count > room.limit) return room
    left.set(accountId, { ...room, used: room.used + count })
    return undefined
  })
}

/** How much an account may use, by its plan (spec 8): in a month of the calendar, UTC, or at once. */
export class Quotas extends Context.Service<Quotas, {
  /** No number means no limit. */
  readonly limit: (plan: Plan, of: Limited) => number | undefined
  /**
   * Counts what a request uses, in the transaction that accepts it: either both are committed or neither. Of requests at
   * the same time no more are accepted than fit. Where the plan has a limit the second waits for the first to end, so
   * this is best a transaction's last statement; where it has none they do not wait for each other.
   */
  readonly reserve: <M extends Metered>(
    accountId: AccountId,
    metric: M,
    count: number
  ) => Effect.Effect<void, QuotaExceeded[M]>
  /**
   * The same for requests that are accepted together in one transaction: the refusal of each that does not fit, undefined
   * for those that do, which are counted. It waits for nobody: `busy` is one whose account somebody else holds, or that is
   * gone, so that one account cannot hold up the others. Whatever else of `usage_daily` they write comes after this.
   */
  readonly reserveEach: <M extends Metered>(
    metric: M,
    wanted: ReadonlyArray<Wanted>
  ) => Effect.Effect<ReadonlyArray<QuotaExceeded[M] | "busy" | undefined>>
  /**
   * Refuses one more of what is limited at once, such as WhatsApp sessions. Whoever asks for the same account waits until
   * the caller's transaction ends, in which the new one is written as well; `counting` is how many there are.
   */
  readonly room: <E, R>(
    accountId: AccountId,
    of: "whatsapp_sessions",
    counting: Effect.Effect<number, E, R>
  ) => Effect.Effect<void, E | PlanLimitExceeded, R>
}>()("messaging-service/usage/Quotas") {
  static readonly layer = Layer.effect(
    Quotas,
    Effect.gen(function*() {
      const repo = yield* UsageRepo
      const limits = limitsOf(yield* AppConfig)

      const limitsFor = Effect.fnUntraced(function*(ids: ReadonlyArray<AccountId>, of: Limited, wait: boolean) {
        const accounts = yield* repo.lockAccounts({ ids, wait })
        return new Map(accounts.map(({ id, plan }) => [id, limits[of][plan] ?? Number.POSITIVE_INFINITY]))
      })

      const roomsOf = Effect.fnUntraced(function*(metric: Metered, asked: ReadonlyArray<AccountId>, wait: boolean) {
        const limitsById = yield* limitsFor(asked, metric, wait)
        // Of an account that is gone there is no room.
        const accountIds = wait ? asked : [...limitsById.keys()]
        const rows = yield* repo.usedThisMonth({ accountIds, metric })
        const used = new Map(rows.map((row) => [row.account_id, row.used]))
        return new Map(accountIds.map((id): [AccountId, Room] => [
          id,
          { limit: limitsById.get(id) ?? 0, used: used.get(id) ?? 0 }
        ]))
      })

      /** The room of each that does not fit; without `wait` there may be no answer. */
      const take = Effect.fnUntraced(function*(metric: Metered, wanted: ReadonlyArray<Wanted>, wait: boolean) {
        const plans = Plan.literals.filter((plan) => limits[metric][plan] === undefined)
        const added = yield* repo.addOnPlans({ metric, wanted, plans })
        const free = new Set(added.map((row) => row.account_id))
        const limited = [...new Set(wanted.flatMap(({ accountId }) => free.has(accountId) ? [] : [accountId]))]
        if (limited.length === 0) return wanted.map(() => undefined)
        const rooms = yield* roomsOf(metric, limited, wait)
        const overflow = overflowing(wanted, rooms)
        const fitting = wanted.filter(({ accountId }, index) => rooms.has(accountId) && overflow[index] === undefined)
        if (fitting.length > 0) yield* repo.add(fitting.map((each) => ({ ...each, metric })))
        return wanted.map(({ accountId }, index) =>
          free.has(accountId) || rooms.has(accountId) ? overflow[index] : "busy" as const
        )
      })

      return Quotas.of({
        limit: (plan, of) => limits[of][plan],
        reserve: Effect.fn("Quotas.reserve")(
          function*<M extends Metered>(accountId: AccountId, metric: M, count: number): Effect.fn.Return<
            void,
            QuotaExceeded[M]
          > {
            if (count === 0) return
            const [full] = yield* take(metric, [{ accountId, count }], true)
            if (full === undefined || full === "busy") return
            return yield* Effect.failSync(() => refusal[metric](full.limit, full.used))
          }
        ),
        reserveEach: Effect.fn("Quotas.reserveEach")(
          function*<M extends Metered>(metric: M, wanted: ReadonlyArray<Wanted>): Effect.fn.Return<
            ReadonlyArray<QuotaExceeded[M] | "busy" | undefined>
          > {
            const taken = yield* take(metric, wanted, false)
            return taken.map((full) =>
              full === undefined || full === "busy" ? full : refusal[metric](full.limit, full.used)
            )
          }
        ),
        room: Effect.fn("Quotas.room")(function*<E, R>(
          accountId: AccountId,
          of: "whatsapp_sessions",
          counting: Effect.Effect<number, E, R>
        ) {
          const limit = (yield* limitsFor([accountId], of, true)).get(accountId) ?? 0
          const current = yield* counting
          if (current >= limit) return yield* new PlanLimitExceeded({ limit, current, resource: of })
        })
      })
    })
  ).pipe(Layer.provide(UsageRepo.layer))
}

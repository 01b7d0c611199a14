import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import { PlanLimits } from "../../src/accounts/PlanLimits.ts"
import { AppConfig } from "../../src/platform/config/AppConfig.ts"
import { Quotas } from "../../src/usage/Quotas.ts"
import { Plan } from "../../src/values/Plan.ts"
import { makeAccount, Service } from "../support/Service.ts"

/** The cells of the table of plans by their row; undefined for unlimited. */
const rows = new Map(
  readFileSync("docs/account/account.md", "utf8").split("\n").flatMap((line) => {
    const [, name = "", ...cells] = line.split("|").map((cell) => cell.trim())
    const numbers = cells.slice(0, 4).map((cell) => cell === "unlimited" ? undefined : Number(cell.replaceAll(",", "")))
    return numbers.length === 4 && numbers.every((each) => !Number.isNaN(each)) ? [[name, numbers] as const] : []
  })
)

/** The limit of a plan by the table. */
const cell = (row: string, plan: Plan) => {
  const cells = rows.get(row)
  assert.isDefined(cells, row)
  return cells?.[Plan.literals.indexOf(plan)]
}

const perKey = "requests a minute with one key"

/** Test nodes have no rate limits by default. */
const rates = Object.fromEntries(
  Plan.literals.map((plan) => [`RATE_LIMIT_${plan.toUpperCase()}`, String(cell(perKey, plan))])
)

const Subject = Layer.mergeAll(PlanLimits.layer, Quotas.layer).pipe(
  Layer.provideMerge(AppConfig.layer),
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({}))),
  Layer.provideMerge(Service.layer({ env: rates }))
)

layer(Subject, { excludeTestServices: true })("the table of plans in docs/account/account.md", (it) => {
  it.effect("has the quotas that are in force by default", () =>
    Effect.gen(function*() {
      const { limitOfPlan } = yield* Quotas
      for (const plan of Plan.literals) {
        const quotas = [limitOfPlan(plan, "email"), limitOfPlan(plan, "sms"), limitOfPlan(plan, "otp")]
        const documented = ["emails a month", "SMS a month", "one-time codes a month"].map((row) => cell(row, plan))
        assert.deepStrictEqual(quotas, documented, plan)
      }
    }))

  it.effect("has the limits on what an account holds at a time", () =>
    Effect.gen(function*() {
      const { requireCapacity, unlimited } = yield* PlanLimits
      for (
        const [row, of] of [
          ["WhatsApp sessions", "whatsapp_sessions"],
          ["webhooks", "webhooks"],
          ["sending domains", "email_domains"],
          ["stored templates", "templates"]
        ] as const
      ) {
        for (const plan of Plan.literals) {
          const { accountId } = yield* makeAccount({ plan })
          const limit = cell(row, plan)
          assert.strictEqual(unlimited(of).includes(plan), limit === undefined, `${row} ${plan}`)
          if (limit === undefined) continue
          yield* requireCapacity(accountId, of, Effect.succeed(limit - 1))
          const refused = yield* Effect.flip(requireCapacity(accountId, of, Effect.succeed(limit)))
          assert.strictEqual(refused.limit, limit, `${row} ${plan}`)
        }
      }
    }))

  it.effect("has the rates of requests, which each answer has in its header", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const config = yield* AppConfig
      const byDefault = {
        starter: config.rateLimitStarter,
        growth: config.rateLimitGrowth,
        business: config.rateLimitBusiness,
        enterprise: config.rateLimitEnterprise
      }
      for (const plan of Plan.literals) {
        const limit = cell(perKey, plan) ?? Number.NaN
        assert.strictEqual(byDefault[plan], limit, plan)
        assert.strictEqual(cell("requests a minute with all keys together", plan), 3 * limit, plan)
        const { key } = yield* makeAccount({ plan })
        const { headers } = yield* request("GET", "/v1/account", { key })
        assert.strictEqual(headers["x-ratelimit-limit"], String(limit), plan)
      }
    }))
})

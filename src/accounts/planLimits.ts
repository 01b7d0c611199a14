import type { Plan } from "../values/Plan.ts"

/** API keys that a plan allows (spec section 8); no number means no limit. */
export const apiKeyLimit: Readonly<Record<Plan, number | undefined>> = {
  starter: 1,
  growth: 3,
  business: 10,
  enterprise: undefined
}

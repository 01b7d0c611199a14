import { eraseRows, type ErasureStep } from "../accounts/Erasure.ts"

/** What the account used, and what it was told of that. */
export const usageErasure: ErasureStep = { name: "usage", some: eraseRows("usage_daily", "usage_alerts") }

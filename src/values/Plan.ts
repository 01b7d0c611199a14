import { Schema } from "effect"

/** The plans of spec section 8, from the smallest to the largest. */
export const Plan = Schema.Literals(["starter", "growth", "business", "enterprise"])
export type Plan = typeof Plan.Type

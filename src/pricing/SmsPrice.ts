import { Schema } from "effect"

/** The price of one SMS segment to a country (spec 2.7). */
export const SmsPrice = Schema.Struct({
  country: Schema.String,
  code: Schema.String,
  dial_prefix: Schema.String,
  price_usd: Schema.Finite,
  currency: Schema.Literal("USD")
})
export type SmsPrice = typeof SmsPrice.Type

const micro = 1_000_000

/** Dollars for JSON. Amounts are stored in whole micro-dollars, so that sums and products are exact. */
export const dollars = (micros: number): number => micros / micro

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

/** Dollars as JSON has them. Amounts are counted in whole micro-dollars, where adding and multiplying lose nothing. */
export const dollars = (micros: number): number => micros / micro

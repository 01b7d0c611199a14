import { Layer } from "effect"
import { Prices } from "./Prices.ts"
import { PricingHttp } from "./PricingHttp.ts"

/** SMS prices with their endpoint. */
export const PricingLayer = PricingHttp.pipe(Layer.provideMerge(Prices.layer))

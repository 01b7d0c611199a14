import { Effect, Layer } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { baseContract } from "../platform/http/baseContract.ts"
import { entityTag, isNamed } from "../platform/http/entityTag.ts"
import { limitPerMinute, RateLimit } from "../platform/http/RateLimit.ts"
import { RequestContext } from "../platform/http/RequestContext.ts"
import { networkOf } from "../values/IpAddress.ts"
import { Timestamp } from "../values/Timestamp.ts"
import { Prices } from "./Prices.ts"
import type { PriceRow } from "./PricesRepo.ts"
import { type PriceList, PricingApi } from "./PricingApi.ts"
import { dollars } from "./SmsPrice.ts"

const never = Timestamp.make("1970-01-01T00:00:00.000000Z")

const priceList = (rows: ReadonlyArray<PriceRow>): PriceList => ({
  data: rows.map(({ code, country, dial_prefix, price_micros }) => ({
    country,
    code,
    dial_prefix,
    price_usd: dollars(price_micros),
    currency: "USD"
  })),
  meta: {
    total: rows.length,
    updated_at: rows.reduce((latest, { updated_at }) => updated_at > latest ? updated_at : latest, never)
  }
})

/** Handlers of {@link PricingApi}. */
const PricingHttp = HttpApiBuilder.group(
  baseContract.add(PricingApi),
  "pricing",
  (handlers) =>
    Effect.gen(function*() {
      const prices = yield* Prices
      const { rateLimitPricing } = yield* AppConfig
      const limits = yield* RateLimit

      return handlers.handle("pricing", ({ query }) =>
        Effect.gen(function*() {
          const { clientAddress } = yield* RequestContext
          yield* limitPerMinute(limits, `pricing:${networkOf(clientAddress)}`, rateLimitPricing)
          const rows = yield* prices.list
          const code = query.country?.toUpperCase()
          const body = JSON.stringify(priceList(code === undefined ? rows : rows.filter((row) => row.code === code)))
          const etag = entityTag(body)
          const headers = { etag, "cache-control": "public, max-age=300", "access-control-allow-origin": "*" }
          const { headers: asked } = yield* HttpServerRequest.HttpServerRequest
          return isNamed(etag, asked["if-none-match"])
            ? HttpServerResponse.empty({ status: 304, headers })
            : HttpServerResponse.text(body, { contentType: "application/json", headers })
        }))
    })
)

/** SMS prices with their endpoint. */
export const PricingLayer = PricingHttp.pipe(Layer.provideMerge(Prices.layer))

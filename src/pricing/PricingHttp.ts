import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { baseContract, endpointGroup } from "../platform/http/baseContract.ts"
import { limitPerMinute, RateLimit } from "../platform/http/RateLimit.ts"
import { PreparedAnswer } from "../platform/http/ready/PreparedAnswer.ts"
import { QuickAnswers } from "../platform/http/ready/QuickAnswers.ts"
import { RequestContext } from "../platform/http/RequestContext.ts"
import { networkOf } from "../values/IpAddress.ts"
import { Prices, type PriceTable } from "./Prices.ts"
import { type PriceList, PricingApi } from "./PricingApi.ts"
import { dollars } from "./SmsPrice.ts"

/** The list, or its part of one country, and when the list last changed. */
const priceList = ({ rows, updatedAt }: PriceTable, part = rows): PriceList => ({
  data: part.map(({ code, country, dial_prefix, price_micros }) => ({
    country,
    code,
    dial_prefix,
    price_usd: dollars(price_micros),
    currency: "USD"
  })),
  meta: { total: part.length, updated_at: updatedAt }
})

const contentOf = (list: PriceList) => ({
  text: `${JSON.stringify(list)}\n`,
  type: "application/json",
  headers: { "cache-control": "public, max-age=300", "access-control-allow-origin": "*" }
})

/** Handlers of {@link PricingApi}. */
const PricingHttp = endpointGroup(
  baseContract.add(PricingApi),
  "pricing",
  (handlers) =>
    Effect.gen(function*() {
      const prices = yield* Prices
      const { rateLimitPricing } = yield* AppConfig
      const limits = yield* RateLimit
      const quick = yield* QuickAnswers
      const bucketOf = (clientAddress: string) => ({
        name: `pricing:${networkOf(clientAddress)}`,
        limit: rateLimitPricing
      })
      let whole: { readonly table: PriceTable; readonly answer: PreparedAnswer } | undefined

      /** Encodes the whole list once for each version of the prices. */
      const wholeList = Effect.gen(function*() {
        const table = yield* prices.current
        if (whole?.table === table) return whole.answer
        const answer = yield* PreparedAnswer.compressed(contentOf(priceList(table)))
        whole = { table, answer }
        return answer
      })
      const ofCountry = (code: string) =>
        Effect.map(
          prices.current,
          (table) => PreparedAnswer.plain(contentOf(priceList(table, table.rows.filter((row) => row.code === code))))
        )

      yield* quick.add("/v1/sms/pricing", ({ clientAddress, headers }) => {
        if (whole === undefined || prices.fresh() !== whole.table) return undefined
        const [usage] = limits.spend([bucketOf(clientAddress)]) ?? []
        return usage !== undefined && usage.used <= rateLimitPricing
          ? PreparedAnswer.forRequest(whole.answer, headers)
          : undefined
      })

      return handlers.handle("list", ({ query }) =>
        Effect.gen(function*() {
          const { clientAddress } = yield* RequestContext
          yield* limitPerMinute(limits, bucketOf(clientAddress))
          const answer = yield* (query.country === undefined ? wholeList : ofCountry(query.country.toUpperCase()))
          const { headers } = yield* HttpServerRequest.HttpServerRequest
          return PreparedAnswer.response(answer, headers)
        }))
    })
)

/** SMS prices with their endpoint. */
export const PricingLayer = PricingHttp.pipe(Layer.provideMerge(Prices.layer))

import { Schema } from "effect"
import { Timestamp } from "../../values/Timestamp.ts"

/** So many of the newest texts are counted, so that the answer costs the same in every account. */
export const mostCounted = 1_000

const counted = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const OfCountry = Schema.Struct({
  country: Schema.NullOr(Schema.String).annotate({
    description: "Two letters, such as RW. Null for numbers that belong to no country"
  }),
  delivered: counted,
  failed: counted,
  pending: counted.annotate({ description: "Queued or sent, and their delivery is not known yet" }),
  delivery_rate: Schema.NullOr(Schema.Finite).annotate({
    description: "delivered as a share of delivered and failed; null while neither is known of any text"
  })
}).annotate({ identifier: "SmsOfCountry" })

/** How many of the newest texts of an account were delivered. */
export const SmsStatisticsReport = Schema.Struct({
  messages: counted.annotate({ description: `How many texts are counted: the newest ${mostCounted} at most` }),
  since: Schema.NullOr(Timestamp).annotate({ description: "When the oldest of them was accepted" }),
  by_country: Schema.Array(OfCountry).annotate({ description: "Those with the most texts first" })
}).annotate({ identifier: "SmsStatistics" })
export type SmsStatisticsReport = typeof SmsStatisticsReport.Type

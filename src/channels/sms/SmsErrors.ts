import { Schema } from "effect"
import { wire } from "../../platform/http/ApiError.ts"

export class UnsupportedDestination extends Schema.TaggedError<UnsupportedDestination>()(
  "UnsupportedDestination",
  { param: Schema.String, country: Schema.NullOr(Schema.String) },
  wire(422, "unsupported_destination", 4222)
) {
  override get message() {
    const reason = this.country === null ? "This number belongs to no country" : `${this.country} has no price`
    return `${this.param}: ${reason}, so no SMS is sent there. See GET /v1/sms/pricing.`
  }
}

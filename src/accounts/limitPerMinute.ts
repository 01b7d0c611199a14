import { Effect } from "effect"
import { RateLimitExceeded } from "../platform/http/ApiErrors.ts"
import type { RateLimit } from "../platform/http/RateLimit.ts"
import { RequestContext } from "../platform/http/RequestContext.ts"

/** Counts a request in its bucket and refuses it with 429 above the limit. */
export const limitPerMinute = Effect.fnUntraced(
  function*(limits: RateLimit["Service"], bucket: string, limit: number) {
    const { secondsLeft, used } = yield* limits.count(bucket)
    if (used <= limit) return
    const { answerHeaders } = yield* RequestContext
    answerHeaders.set("retry-after", String(secondsLeft))
    return yield* new RateLimitExceeded({ limit, retry_after: secondsLeft })
  }
)

import { type Context, Metric } from "effect"

const requests = Metric.counter("http_requests_total", { description: "Answers by method and status" })

const duration = Metric.histogram("http_request_duration_milliseconds", {
  description: "From the parsed head of a request to its answer",
  boundaries: [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000]
})

const counters = new Map<string, Map<number, Metric.Counter<number>>>()

const counterOf = (method: string, status: number) => {
  const ofMethod = counters.get(method) ?? new Map<number, Metric.Counter<number>>()
  counters.set(method, ofMethod)
  const known = ofMethod.get(status)
  if (known !== undefined) return known
  const counter = Metric.withAttributes(requests, { method, status: String(status) })
  ofMethod.set(status, counter)
  return counter
}

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

interface Observation {
  readonly method: string
  readonly status: number
  readonly millis: number
}

/** Counts one answer. Unknown methods count as `other`, so that clients cannot create series. */
export const observeRequest = (context: Context.Context<never>, { method, millis, status }: Observation): void => {
  counterOf(methods.has(method) ? method : "other", status).updateUnsafe(1, context)
  duration.updateUnsafe(millis, context)
}

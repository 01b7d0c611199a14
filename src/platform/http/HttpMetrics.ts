import { Effect, Metric } from "effect"

const requests = Metric.counter("http_requests_total", { description: "Answers by method and status" })

const duration = Metric.histogram("http_request_duration_milliseconds", {
  description: "From the parsed head of a request to its answer",
  boundaries: [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000]
})

const counters = new Map<string, Metric.Counter<number>>()

const counterOf = (method: string, status: number) => {
  const known = counters.get(`${method} ${status}`)
  if (known !== undefined) return known
  const counter = Metric.withAttributes(requests, { method, status: String(status) })
  counters.set(`${method} ${status}`, counter)
  return counter
}

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

/** Counts one answer. A method that HTTP does not know counts as `other`, so that clients cannot invent series. */
export const observeRequest = (method: string, status: number, millis: number): Effect.Effect<void> =>
  Effect.andThen(
    Metric.update(counterOf(methods.has(method) ? method : "other", status), 1),
    Metric.update(duration, millis)
  )

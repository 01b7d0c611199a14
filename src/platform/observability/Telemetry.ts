import { Cause, Context, Effect, Exit, Layer, Redacted, References, Tracer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { OtlpSerialization, OtlpTracer, PrometheusMetrics } from "effect/observability"
import { createServer } from "node:http"
import { AppConfig } from "../config/AppConfig.ts"
import { httpServerAt, placeOf } from "../net/Listening.ts"
import { memoryLimitOf } from "../work/Overload.ts"
import { makeNodeGauges } from "./nodeGauges.ts"

/** Where the metrics listen, if they do. */
export const metricsPlace = ({ metricsHost: host, metricsPort: port }: AppConfig["Service"]) =>
  port === undefined ? undefined : placeOf({ host: "METRICS_HOST", port: "METRICS_PORT" }, { host, port })

/** A port: the gauges that need the database. */
export class Gauges extends Context.Service<Gauges, {
  /** Measures them within two seconds, unless it did so some seconds ago. Without the database they keep their values. */
  readonly refresh: Effect.Effect<void>
}>()("messaging-service/platform/observability/Telemetry/Gauges") {}

const contentType = "text/plain; version=0.0.4; charset=utf-8"

const route = HttpRouter.use(Effect.fnUntraced(function*(router) {
  const { memoryLimitMb } = yield* AppConfig
  const { refresh } = yield* Gauges
  const measureNode = makeNodeGauges(memoryLimitOf(memoryLimitMb))
  yield* router.add(
    "GET",
    "/metrics",
    Effect.gen(function*() {
      yield* refresh
      measureNode()
      return HttpServerResponse.text(yield* PrometheusMetrics.format(), { contentType })
    })
  )
}))

/**
 * `/metrics` for Prometheus on a separate port, so that the API's port never exposes it. Without that port nothing measures
 * the gauges.
 */
export const metrics = <E, R>(gauges: Layer.Layer<Gauges, E, R>) =>
  Layer.effectDiscard(Effect.gen(function*() {
    const place = metricsPlace(yield* AppConfig)
    if (place === undefined) return
    const server = HttpRouter.serve(route, { disableLogger: true, disableListenLog: true })
    // Built separately: a merged layer would share its router, and each port would serve the routes of both.
    yield* Layer.build(server.pipe(Layer.provide(httpServerAt(createServer, place))))
  })).pipe(Layer.provide(gauges))

/** Attributes with the path or the query of a request: both may hold tokens, ids and addresses of people. */
const withheld = new Set(["url.full", "url.path", "url.query"])

/** The library's error for an answer with 5xx quotes the path. The status is an attribute already. */
const withoutPath = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.isSuccess(exit) || Cause.hasInterrupts(exit.cause) ? exit : Exit.fail("The answer has a status of 5xx")

/** Spans of requests name the route (`http.route`) and never the path itself. */
const routesOnly = Layer.effect(
  Tracer.Tracer,
  Effect.map(Effect.tracer, (tracer) =>
    Tracer.make({
      ...(tracer.context !== undefined && { context: tracer.context }),
      span: (options) => {
        const span = tracer.span(options)
        if (options.kind !== "server") return span
        const attribute = span.attribute.bind(span)
        const end = span.end.bind(span)
        return Object.assign(span, {
          attribute: (key: string, value: unknown) => withheld.has(key) ? undefined : attribute(key, value),
          end: (time: bigint, exit: Exit.Exit<unknown, unknown>) => end(time, withoutPath(exit))
        })
      }
    }))
)

/** Loaded only where there is a collector. */
const Client = Layer.unwrap(
  Effect.map(Effect.promise(() => import("@effect/platform-node/NodeHttpClient")), ({ layerUndici }) => layerUndici)
)

/** Sends traces to the operator's OTLP collector. Without one, tracing is off and costs nothing. */
export const Traces = Layer.unwrap(Effect.map(AppConfig, ({ otlpEndpoint }) => {
  if (otlpEndpoint === undefined) return Layer.succeed(References.TracerEnabled, false)
  const base = Redacted.value(otlpEndpoint).href.replace(/\/+$/, "")
  const tracer = OtlpTracer.layer({ url: `${base}/v1/traces`, resource: { serviceName: "messaging-service" } }).pipe(
    Layer.provide(OtlpSerialization.layerJson),
    Layer.provide(Client)
  )
  return routesOnly.pipe(Layer.provideMerge(tracer))
}))

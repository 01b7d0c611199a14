import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer, Redacted } from "effect"
import { HttpRouter } from "effect/http"
import { OtlpSerialization, OtlpTracer, PrometheusMetrics } from "effect/observability"
import { createServer } from "node:http"
import { AppConfig } from "../config/AppConfig.ts"

/** `/metrics` for Prometheus on a separate port, so that the API's port never exposes it. */
export const Metrics = Layer.effectDiscard(Effect.gen(function*() {
  const { metricsHost: host, metricsPort } = yield* AppConfig
  if (metricsPort === undefined) return
  const server = HttpRouter.serve(PrometheusMetrics.layerHttp(), { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provide(NodeHttpServer.layer(createServer, { host, port: metricsPort })),
    Layer.orDie
  )
  // Built separately: a merged layer would share its router, and each port would serve the routes of both.
  yield* Layer.build(server)
}))

/** Sends traces to the operator's OTLP collector. Without one, tracing is off and costs nothing. */
export const Traces = Layer.unwrap(Effect.map(AppConfig, ({ otlpEndpoint }) => {
  if (otlpEndpoint === undefined) return Layer.empty
  const base = Redacted.value(otlpEndpoint).href.replace(/\/+$/, "")
  return OtlpTracer.layer({ url: `${base}/v1/traces`, resource: { serviceName: "messaging-service" } }).pipe(
    Layer.provide(OtlpSerialization.layerJson),
    Layer.provide(NodeHttpClient.layerUndici)
  )
}))

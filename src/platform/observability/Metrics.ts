import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { createServer } from "node:http"
import { AppConfig } from "../config/AppConfig.ts"

/** `/metrics` for Prometheus on a port of its own, so that it is never open where the API is. */
export const Metrics = Layer.unwrap(Effect.map(AppConfig, ({ host, metricsPort }) =>
  metricsPort === undefined
    ? Layer.empty
    : HttpRouter.serve(PrometheusMetrics.layerHttp(), { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provide(NodeHttpServer.layer(createServer, { host, port: metricsPort })),
      Layer.orDie
    )))

import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { createServer } from "node:http"
import { AppConfig } from "../config/AppConfig.ts"

/** `/metrics` for Prometheus on a separate port, so that the API's port never exposes it. */
export const Metrics = Layer.effectDiscard(Effect.gen(function*() {
  const { host, metricsPort } = yield* AppConfig
  if (metricsPort === undefined) return
  const server = HttpRouter.serve(PrometheusMetrics.layerHttp(), { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provide(NodeHttpServer.layer(createServer, { host, port: metricsPort })),
    Layer.orDie
  )
  // Built separately: a merged layer would share its router, and each port would serve the routes of both.
  yield* Layer.build(server)
}))

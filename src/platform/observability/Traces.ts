import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Layer, Redacted } from "effect"
import { OtlpSerialization, OtlpTracer } from "effect/observability"
import { AppConfig } from "../config/AppConfig.ts"

/** Sends traces to the operator's OTLP collector. Without one, tracing is off and costs nothing. */
export const Traces = Layer.unwrap(Effect.map(AppConfig, ({ otlpEndpoint }) => {
  if (otlpEndpoint === undefined) return Layer.empty
  const base = Redacted.value(otlpEndpoint).href.replace(/\/+$/, "")
  return OtlpTracer.layer({ url: `${base}/v1/traces`, resource: { serviceName: "messaging-service" } }).pipe(
    Layer.provide(OtlpSerialization.layerJson),
    Layer.provide(NodeHttpClient.layerUndici)
  )
}))

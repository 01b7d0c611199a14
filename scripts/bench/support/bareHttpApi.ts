/** One endpoint with a schema, on the library's server without anything around it. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { createServer } from "node:http"

class Health extends HttpApiGroup.make("health")
  .add(HttpApiEndpoint.get("live", "/health/live", { success: Schema.Struct({ status: Schema.String }) }))
{}

class Api extends HttpApi.make("bare").add(Health) {}

const Handlers = HttpApiBuilder.group(
  Api,
  "health",
  (handlers) => handlers.handle("live", () => Effect.succeed({ status: "ok" }))
)

const Hello = Layer.effectDiscard(Effect.map(HttpServer.HttpServer, ({ address }) => {
  const port = address._tag === "UnixPathAddress" ? 0 : address.port
  console.log(JSON.stringify({ port, pid: process.pid }))
}))

const Server = HttpRouter.serve(HttpApiBuilder.layer(Api).pipe(Layer.provide(Handlers)), {
  disableLogger: true,
  disableListenLog: true
})

NodeRuntime.runMain(Layer.launch(
  Layer.merge(Server, Hello).pipe(
    Layer.provide(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })),
    Layer.provide(NodeServices.layer)
  )
))

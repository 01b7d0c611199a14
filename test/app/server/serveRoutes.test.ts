import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { expect, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { HttpClient, HttpRouter, HttpServerResponse } from "effect/http"
import { serveRoutes } from "../../../src/app/server/serveRoutes.ts"

class Greeting
  extends Context.Service<Greeting, string>()("messaging-service/test/app/server/serveRoutes.test/Greeting")
{}

const isOurs = (key: string) => key.startsWith("messaging-service/")

const Routes = HttpRouter.use(Effect.fnUntraced(function*(router) {
  const greeting = yield* Greeting
  yield* router.add(
    "GET",
    "/",
    Effect.contextWith((context: Context.Context<never>) =>
      HttpServerResponse.json({ greeting, services: [...context.mapUnsafe.keys()].filter(isOurs) })
    )
  )
}))

it.live("a handler has the services that it was built with, and its requests copy none of them", () =>
  Effect.gen(function*() {
    const response = yield* HttpClient.get("/")
    expect(yield* response.json).toEqual({ greeting: "hello", services: [] })
  }).pipe(
    Effect.provide(
      serveRoutes(Routes).pipe(
        Layer.provideMerge(Layer.merge(NodeHttpServer.layerTest, Layer.succeed(Greeting, "hello")))
      )
    )
  ))

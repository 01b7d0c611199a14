/** The console: web pages under `/console` for everything that the service does. */
import { type Context, Effect, Layer, type Scope } from "effect"
import { HttpRouter } from "effect/http"
import { OwnCalls } from "../platform/calls/OwnCalls.ts"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { Allowed } from "../platform/http/Allowed.ts"
import type * as Console from "./ConsoleRoutes.ts"

type Needs = Layer.Services<typeof Console.ConsoleRoutes>

/** Loads the pages at their first request: a node without viewers does without their memory. */
const Pages = HttpRouter.use(Effect.fnUntraced(function*(router) {
  const { add } = yield* Allowed
  const services = yield* Effect.context<Exclude<Needs, HttpRouter.HttpRouter> | Scope.Scope>()
  const pages = yield* Effect.cached(
    Effect.gen(function*() {
      const [{ ConsoleRoutes }, { consoleRoutes }] = yield* Effect.promise(() =>
        Promise.all([import("./ConsoleRoutes.ts"), import("./pages/pages.ts")])
      )
      add(consoleRoutes)
      return yield* HttpRouter.toHttpEffect(ConsoleRoutes)
    }).pipe(
      // With the node's memo map it would add its routes to the router of the node.
      Effect.provideServiceEffect(Layer.CurrentMemoMap, Layer.makeMemoMap),
      // In place of the first request's context, which the routes would keep.
      Effect.updateContext((_: Context.Context<never>) => services),
      // The first request loads them for all, also if its client goes away.
      Effect.uninterruptible
    )
  )
  // The router takes `/console` for a part of it.
  yield* router.add("*", "/console/*", Effect.flatten(pages))
}))

/** The pages with their files, unless the operator has switched them off. */
export const ConsoleLayer = Layer.unwrap(
  Effect.map(AppConfig, ({ console }) => console === "off" ? Layer.empty : Layer.provide(Pages, OwnCalls.layer))
)

import { Context, Effect, Layer } from "effect"
import { HttpApi, HttpApiBuilder, OpenApi } from "effect/http-api"
import { Authentication } from "./Authentication.ts"
import { openApiDocument } from "./openApi.ts"
import { RequestRules } from "./RequestRules.ts"

/**
 * The API without endpoints. `api/Api.ts` adds every group; a handler file adds only its own group, so that no handler
 * imports the whole contract. A bad request gets all its violations in one answer.
 */
export const baseContract = HttpApi.make("messaging")
  .annotate(HttpApi.ParseOptions, { errors: "all" })
  .annotate(OpenApi.Transform, openApiDocument)

const middleware = new Set<string>([Authentication.key, RequestRules.key])

const isEffect = (value: unknown): value is Effect.Effect<unknown> => Effect.isEffect(value)

const provided = <A>(built: A, services: Context.Context<never>) =>
  isEffect(built) ? Effect.provideContext(built, services) as A : built

/**
 * `HttpApiBuilder.group` for handlers that got their services when they were built, as all do here. The library copies
 * every service that it finds at that moment into the context of each request. Here it finds only the middleware.
 */
export const endpointGroup: typeof HttpApiBuilder.group = (api, identifier, build) =>
  Layer.effectContext(
    Effect.contextWith((all) =>
      Effect.flatMap(Effect.scope, (scope) =>
        Layer.buildWithScope(
          HttpApiBuilder.group(api, identifier, (handlers) => provided(build(handlers), all)),
          scope
        ).pipe(Effect.updateContext(() =>
          Context.makeUnsafe(new Map([...all.mapUnsafe].filter(([key]) => middleware.has(key))))
        )))
    )
  )

import { Context, Effect, type FileSystem, Layer, type Scope } from "effect"
import { HttpRouter, HttpServer, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import { MacKeys } from "../../platform/crypto/MacKeys.ts"

/** The services of which a request may ask. Handlers get all others once, when they are built. */
type PerRequest = FileSystem.FileSystem | MacKeys

const isKept = (key: string) => key === MacKeys.key || !key.startsWith("messaging-service/")

const lean = <R>(all: Context.Context<R>): Context.Context<R> =>
  Context.makeUnsafe(new Map([...all.mapUnsafe].filter(([key]) => isKept(key))))

/**
 * The library starts each request with all services that it finds when it begins to serve, and copies them for the
 * endpoint and for each transaction. Here it finds about half of them. It passes no middleware, because `serveRoutes` names
 * none.
 */
const withoutServices = ({ address, serve }: HttpServer.HttpServer["Service"]) =>
  HttpServer.make({
    address,
    serve: <E>(
      answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, HttpServerRequest.HttpServerRequest | Scope.Scope>
    ) => Effect.updateContext(serve(answer), lean)
  })

type Asked<R> = HttpRouter.Request.Only<"Requires" | "GlobalRequires", R>

/** Serves routes whose requests ask for no service but {@link PerRequest}. Others do not compile. */
export const serveRoutes = <A, E, R>(
  routes: Layer.Layer<A, E, R> & ([Asked<R>] extends [PerRequest] ? unknown : "a request asks for another service")
) =>
  Layer.updateService(
    HttpRouter.serve(routes, {
      disableLogger: true,
      disableListenLog: true,
      routerConfig: { caseSensitive: true, maxParamLength: 1000 }
    }),
    HttpServer.HttpServer,
    withoutServices
  )

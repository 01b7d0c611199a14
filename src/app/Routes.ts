import { Effect, Layer } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiScalar, OpenApi } from "effect/http-api"
import { createHash } from "node:crypto"
import { Api } from "../api/Api.ts"
import { Allowed, type RouteName } from "../platform/http/Allowed.ts"

/** The OpenAPI 3.1 document of the contract. */
export const openApiDocument = OpenApi.fromApi(Api)

/** `If-None-Match` compares weakly (RFC 9110, 13.1.2). */
const isNamed = (etag: string, header: string | undefined) =>
  header !== undefined &&
  (header.trim() === "*" || header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag.slice(2)))

const OpenApiRoute = HttpRouter.use(Effect.fnUntraced(function*(router) {
  const body = JSON.stringify(openApiDocument)
  const etag = `W/"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`
  const headers = { etag, "cache-control": "public, max-age=60", "access-control-allow-origin": "*" }
  yield* router.add("GET", "/openapi.json", (request: HttpServerRequest.HttpServerRequest) =>
    Effect.succeed(
      isNamed(etag, request.headers["if-none-match"])
        ? HttpServerResponse.empty({ status: 304, headers })
        : HttpServerResponse.text(body, { contentType: "application/json", headers })
    ))
}))

/** Routes that are no part of the contract. */
const plainRoutes: ReadonlyArray<RouteName> = [
  { method: "GET", path: "/openapi.json" },
  { method: "GET", path: "/docs" },
  { method: "GET", path: "/health/live" },
  { method: "GET", path: "/health/ready" },
  { method: "GET", path: "/u/:token" },
  { method: "POST", path: "/u/:token" }
]

const contractRoutes = (): ReadonlyArray<RouteName> => {
  const routes: Array<RouteName> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => routes.push({ method: endpoint.method, path: endpoint.path })
  })
  return routes
}

/** The methods of every path that is served. */
export const AllowedLayer = Layer.sync(Allowed, () => Allowed.fromRoutes([...contractRoutes(), ...plainRoutes]))

/** The contract with its description for programs and for people. */
export const Routes = Layer.mergeAll(
  HttpApiBuilder.layer(Api),
  OpenApiRoute,
  HttpApiScalar.layer(Api, { path: "/docs", scalar: { withDefaultFonts: false } })
)

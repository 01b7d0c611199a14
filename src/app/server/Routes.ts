import { Context, Effect, Layer, Option } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiBuilder, OpenApi } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { Access } from "../../platform/http/Access.ts"
import { Allowed, matcherOf, type RouteName } from "../../platform/http/Allowed.ts"
import { publicBase } from "../../platform/http/PublicUrl.ts"
import * as ReaderPage from "../../platform/http/ReaderPage.ts"
import { entityTag, isNamed } from "../../platform/http/ready/PreparedAnswer.ts"
import { AcceptancePaths } from "../../platform/work/Overload.ts"
import { receiverPath } from "../../webhooks/endpoint/SandboxReceiver.ts"
import { GuidesRoutes } from "../guides/GuidesHttp.ts"
import { mcpLayer } from "../mcp/McpHttp.ts"
import { DocsPage } from "./DocsPage.ts"
import { documentedContract } from "./documentedContract.ts"
import { HomePage } from "./HomePage.ts"

const OpenApiRoute = HttpRouter.use(Effect.fnUntraced(function*(router) {
  const address = publicBase(yield* AppConfig)
  // Generated on first use, so that no start waits for it.
  const document = yield* Effect.cached(Effect.sync(() => {
    const generated = OpenApi.fromApi(documentedContract)
    const servers = address === "" ? generated.servers : [{ url: address }]
    const body = JSON.stringify({ ...generated, servers })
    return { body, etag: entityTag(body) }
  }))
  yield* router.add(
    "GET",
    "/openapi.json",
    (request: HttpServerRequest.HttpServerRequest) =>
      Effect.map(document, ({ body, etag }) => {
        const headers = { etag, "cache-control": "public, max-age=60", "access-control-allow-origin": "*" }
        return isNamed(etag, request.headers["if-none-match"])
          ? HttpServerResponse.empty({ status: 304, headers })
          : HttpServerResponse.text(body, { contentType: "application/json", headers })
      })
  )
}))

/** Routes outside the contract. */
const plainRoutes: ReadonlyArray<RouteName> = [
  { method: "GET", path: "/" },
  { method: "GET", path: "/favicon.ico" },
  { method: "GET", path: "/favicon.svg" },
  { method: "GET", path: "/openapi.json" },
  { method: "GET", path: "/docs" },
  { method: "GET", path: "/docs/guides" },
  { method: "GET", path: "/docs/guides/:name" },
  { method: "GET", path: "/llms.txt" },
  { method: "POST", path: "/mcp" },
  { method: "GET", path: "/health/live" },
  { method: "GET", path: "/health/ready" },
  { method: "POST", path: "/v1/callbacks/sms/:provider/:secret" },
  { method: "POST", path: `${receiverPath}/:secret` },
  { method: "GET", path: "/u/:token" },
  { method: "POST", path: "/u/:token" },
  { method: "GET", path: "/account/confirm/:token" },
  { method: "POST", path: "/account/confirm/:token" },
  { method: "GET", path: "/account/email/:token" },
  { method: "POST", path: "/account/email/:token" },
  { method: "GET", path: "/t/o/:token" },
  { method: "GET", path: "/t/c/:token" }
]

const contractRoutes = (): ReadonlyArray<RouteName> => {
  const routes: Array<RouteName> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => routes.push({ method: endpoint.method, path: endpoint.path })
  })
  return routes
}

/** The allowed methods of every path. Those of the console join when its pages are loaded. */
export const AllowedLayer = Layer.sync(Allowed, () => Allowed.fromRoutes([...contractRoutes(), ...plainRoutes]))

const decoded = Option.liftThrowable(decodeURI)

/** A path as the router reads it, which also takes a whole URL, and ends a path at a semicolon. */
const asRouted = (path: string) => {
  const [written = ""] = path.replace(/^https?:\/\/.*?\//, "/").split(/[;#]/, 1)
  return Option.getOrElse(decoded(written), () => written).replaceAll(/\/{2,}/g, "/")
}

/** The paths of the endpoints that accept messages. */
export const AcceptancePathsLayer = Layer.sync(AcceptancePaths, () => {
  const paths = new Set<string>()
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      const rule = Context.getOrUndefined(endpoint.annotations, Access)
      if (rule?.kind === "account" && rule.paid === "sending") paths.add(endpoint.path)
    }
  })
  const matchers = [...paths].map(matcherOf)
  return {
    has: (path) => {
      if (paths.has(path)) return true
      const routed = asRouted(path)
      return matchers.some((matcher) => matcher.test(routed))
    }
  }
})

/**
 * The contract's endpoints with their OpenAPI document and its pages, the guides, the tools of agents, and the style of
 * the pages for readers of mail.
 */
export const Routes = Layer.mergeAll(
  HttpApiBuilder.layer(Api),
  OpenApiRoute,
  DocsPage,
  HomePage,
  GuidesRoutes,
  mcpLayer(documentedContract),
  ReaderPage.Style
)

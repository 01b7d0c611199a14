import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { HttpApiScalar } from "effect/http-api"
import { createHash } from "node:crypto"
import { Api } from "../../api/Api.ts"
import { PreparedAnswer } from "../../platform/http/ready/PreparedAnswer.ts"

const contentType = "text/html; charset=utf-8"

/** Allows exactly the scripts of the page. They add styles to it, and call the API for people who try it. */
const policyOf = (html: string) => {
  const scripts = [...html.matchAll(/<script>([^]*?)<\/script>/g)].map(([, script = ""]) =>
    `'sha256-${createHash("sha256").update(script).digest("base64")}'`
  )
  return `default-src 'none'; script-src ${scripts.join(" ")}; style-src 'unsafe-inline'; img-src 'self' data: blob:; `
    + "font-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

const prepared = (page: HttpServerResponse.HttpServerResponse) => {
  const html = Buffer.from(page.body._tag === "Uint8Array" ? page.body.body : []).toString()
  const headers = { "cache-control": "public, max-age=300", "content-security-policy": policyOf(html) }
  return PreparedAnswer.compressed({ text: html, type: contentType, headers })
}

/** Prepares a page at its first request, and answers each request from memory. */
const cachedPage = <E, R>(page: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.map(Effect.cached(Effect.flatMap(page, prepared)), (preparing) =>
    Effect.gen(function*() {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      return PreparedAnswer.response(yield* preparing, headers)
    }))

/** The library adds its page to this router, which adds the prepared page to the service's. */
const PageRouter = Layer.effect(
  HttpRouter.HttpRouter,
  Effect.map(HttpRouter.HttpRouter, (router): HttpRouter.HttpRouter => ({
    ...router,
    // oxlint-disable-next-line max-params -- the router's interface
    add: (method, path, handler, options) =>
      Effect.isEffect(handler)
        ? Effect.flatMap(cachedPage(handler), (cached) => router.add(method, path, cached, options))
        : router.add(method, path, handler, options)
  }))
)

/** The page asks for the API key, and leads to no service of its vendor. The library's type lacks some of its settings. */
const scalar = {
  withDefaultFonts: false,
  authentication: { preferredSecurityScheme: "bearer" },
  showDeveloperTools: "never",
  hideClientButton: true
}

/** The reference of the API for people, at `/docs`. */
export const DocsPage = HttpApiScalar.layer(Api, { path: "/docs", scalar }).pipe(
  Layer.provide(PageRouter)
)

import { Effect, Layer } from "effect"
import { HttpRouter, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import { HttpApiScalar } from "effect/http-api"
import { createHash } from "node:crypto"
import { PreparedAnswer } from "../../platform/http/ready/PreparedAnswer.ts"
import { documentedContract } from "./documentedContract.ts"

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

/** The page asks for the API key, and leads to no service of its vendor. The library's type lacks some of its settings. */
const scalar = {
  withDefaultFonts: false,
  authentication: { preferredSecurityScheme: "bearer" },
  showDeveloperTools: "never",
  // Without servers the page sends to its own origin. It would join the document's "/" and a path to "//v1/…".
  servers: [],
  hideClientButton: true,
  // A part of the library is some pixels wider than a phone.
  customCss: "html { overflow-x: clip }"
}

/** The library's page. It adds the page to a router, and imports several megabytes, so it waits for the first request. */
const page = Effect.gen(function*() {
  const router = yield* HttpRouter.HttpRouter
  let found: Effect.Effect<unknown, unknown, unknown> | undefined
  const recorder = HttpRouter.HttpRouter.of({
    ...router,
    add: (_method, _path, handler) => Effect.sync(() => void (found = Effect.isEffect(handler) ? handler : undefined))
  })
  const layer = HttpApiScalar.layer(documentedContract, { path: "/docs", scalar })
  yield* Layer.build(Layer.provide(layer, Layer.succeed(HttpRouter.HttpRouter, recorder)))
  // The library adds an effect that renders the document, which needs and fails with nothing.
  return yield* Effect.flatMap(found as Effect.Effect<HttpServerResponse.HttpServerResponse>, prepared)
}).pipe(Effect.scoped)

/** The reference of the API for people, at `/docs`, prepared at its first request and then answered from memory. */
export const DocsPage = HttpRouter.use(Effect.fnUntraced(function*(router) {
  const preparing = yield* Effect.cached(Effect.provideService(page, HttpRouter.HttpRouter, router))
  yield* router.add(
    "GET",
    "/docs",
    ({ headers }: HttpServerRequest.HttpServerRequest) =>
      Effect.map(preparing, (ready) => PreparedAnswer.response(ready, headers))
  )
}))

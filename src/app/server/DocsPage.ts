import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiScalar } from "effect/http-api"
import { createHash } from "node:crypto"
import { brotliCompress, constants, gzip } from "node:zlib"
import { Api } from "../../api/Api.ts"
import { entityTag, isNamed } from "../../platform/http/entityTag.ts"

const contentType = "text/html; charset=utf-8"

/** Allows exactly the scripts of the page. They add styles to it, and call the API for people who try it. */
const policyOf = (html: string) => {
  const scripts = [...html.matchAll(/<script>([^]*?)<\/script>/g)].map(([, script = ""]) =>
    `'sha256-${createHash("sha256").update(script).digest("base64")}'`
  )
  return `default-src 'none'; script-src ${scripts.join(" ")}; style-src 'unsafe-inline'; img-src 'self' data: blob:; `
    + "font-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

const compressed = (compress: (done: (error: Error | null, bytes: Buffer) => void) => void) =>
  Effect.callback<Uint8Array>((resume) =>
    compress((error, bytes) => resume(error === null ? Effect.succeed(bytes) : Effect.die(error)))
  )

/** The page in each encoding, with the headers of its answers. All answers share these bytes. */
const prepared = Effect.fnUntraced(function*(page: HttpServerResponse.HttpServerResponse) {
  const identity = page.body._tag === "Uint8Array" ? page.body.body : new Uint8Array()
  const html = Buffer.from(identity).toString()
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }
  const etag = entityTag(html)
  const headers = {
    etag,
    vary: "accept-encoding",
    "cache-control": "public, max-age=300",
    "content-security-policy": policyOf(html)
  }
  const br = yield* compressed((done) => brotliCompress(html, quality, done))
  const zipped = yield* compressed((done) => gzip(html, done))
  return { etag, headers, bytes: [["br", br], ["gzip", zipped]] as const, identity }
})

const accepts = (header: string | undefined, encoding: string) =>
  (header ?? "").split(",").some((entry) => {
    const [name = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase())
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })

/** Prepares a page at its first request, and answers each request from memory. */
const cachedPage = <E, R>(page: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.map(Effect.cached(Effect.flatMap(page, prepared)), (preparing) =>
    Effect.gen(function*() {
      const { headers: asked } = yield* HttpServerRequest.HttpServerRequest
      const { bytes, etag, headers, identity } = yield* preparing
      if (isNamed(etag, asked["if-none-match"])) return HttpServerResponse.empty({ status: 304, headers })
      const found = bytes.find(([encoding]) => accepts(asked["accept-encoding"], encoding))
      return found === undefined
        ? HttpServerResponse.uint8Array(identity, { contentType, headers })
        : HttpServerResponse.uint8Array(found[1], {
          contentType,
          headers: { ...headers, "content-encoding": found[0] }
        })
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

/** The reference of the API for people, at `/docs`. */
export const DocsPage = HttpApiScalar.layer(Api, { path: "/docs", scalar: { withDefaultFonts: false } }).pipe(
  Layer.provide(PageRouter)
)

import { Context, Effect, Layer, Scope } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { FirstOperator } from "../accounts/FirstOperator.ts"
import { NotFound } from "../platform/http/ApiErrors.ts"
import { accepts } from "../platform/http/ready/PreparedAnswer.ts"
import { assetAt } from "./assets/Assets.ts"
import { Answers } from "./gate/Answers.ts"
import { Gate } from "./gate/Gate.ts"
import { Proofs } from "./gate/Proofs.ts"
import { Visits } from "./gate/Visits.ts"
import { Messages } from "./language/Messages.ts"
import type { AnyPage } from "./page/Page.ts"
import { signOutButton } from "./pages/doors/SignInPages.ts"
import { pages, pathsOf, places, type Services } from "./pages/pages.ts"
import type { Surroundings } from "./ui/layout.ts"

const surroundings: Surroundings = {
  places,
  own: [{ path: "/me", label: "me.nav" }, { path: "/me/security", label: "security.title" }],
  signOut: signOutButton
}

/** Styles, scripts and icons. Their names change with their content, so browsers keep them for good. */
const Assets = HttpRouter.add(
  "GET",
  "/console/assets/:name",
  (request: HttpServerRequest.HttpServerRequest) =>
    Effect.gen(function*() {
      const asset = assetAt(request.url.split("?")[0] ?? "")
      if (asset === undefined) return yield* new NotFound()
      const given = request.headers["accept-encoding"] ?? ""
      const encoding = accepts(given, "br") ? "br" : accepts(given, "gzip") ? "gzip" : undefined
      const body = encoding === "br" ? asset.brotli : encoding === "gzip" ? asset.gzip : asset.plain
      return HttpServerResponse.uint8Array(body, {
        contentType: asset.type,
        headers: {
          "cache-control": "public, max-age=31536000, immutable",
          "cross-origin-resource-policy": "same-origin",
          vary: "accept-encoding",
          ...(encoding !== undefined && { "content-encoding": encoding })
        }
      })
    })
)

const Pages = HttpRouter.addAll(Effect.gen(function*() {
  const { missing, serve } = yield* Gate
  // The scope is that of the request: it holds the memory of a file.
  const services = Context.omit(Scope.Scope)(yield* Effect.context<Exclude<Services, Scope.Scope>>())
  const isStart = (page: AnyPage<Services>) => page.kind === "person" && page.path === ""
  const routes = pages.filter((page) => !isStart(page)).flatMap((page) =>
    pathsOf(page).flatMap(([path, mode]) => {
      const handler = Effect.provideContext(serve(page, mode), services)
      return [
        HttpRouter.route("GET", path, handler),
        ...(page.actions.length > 0 ? [HttpRouter.route("POST", path, handler)] : [])
      ]
    })
  )
  // The router takes `/console` for a part of `/console/*`.
  const start = pages.filter(isStart).map((page) => serve(page, "live"))
  const other = Effect.flatMap(
    HttpServerRequest.HttpServerRequest,
    ({ url }) => /^\/console\/?(?:\?|$)/.test(url) ? start[0] ?? missing : missing
  )
  return [...routes, HttpRouter.route("GET", "/console/*", Effect.provideContext(other, services))]
}))

/** The pages with their files. */
export const ConsoleRoutes = Layer.mergeAll(Assets, Pages).pipe(
  Layer.provide(Gate.layer),
  Layer.provide([Visits.layer, Proofs.layer, Answers.layer(surroundings)]),
  Layer.provide([Messages.layer, FirstOperator.layer])
)

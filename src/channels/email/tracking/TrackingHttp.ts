import { Cause, Effect, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { html } from "../../../platform/http/html.ts"
import * as ReaderPage from "../../../platform/http/ReaderPage.ts"
import { Tracking } from "./Tracking.ts"
import { TrackingLinks } from "./TrackingLinks.ts"

/** A transparent GIF of one pixel, 43 bytes. */
const pixel = new Uint8Array(Buffer.from("R0lGODlhAQABAIAAAP///////yH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==", "base64"))

const picture = HttpServerResponse.uint8Array(pixel, { contentType: "image/gif" })

const brokenLinkPage = ReaderPage.respond(
  "Broken link",
  html`<h1>This link is broken</h1>
<p>The link may be incomplete. Open it from the mail again, or ask the sender for the address it leads to.</p>`,
  404
)

/** Readers get their page even if the database cannot record the visit. */
const recordOrLog = (effect: Effect.Effect<void>) =>
  Effect.catchCauseIf(
    effect,
    (cause) => !Cause.hasInterrupts(cause),
    (cause) => Effect.logWarning("recording an open or a click failed", cause)
  )

const routes = Effect.gen(function*() {
  const links = yield* TrackingLinks
  const tracking = yield* Tracking

  const visit = Effect.gen(function*() {
    const { token = "" } = yield* HttpRouter.params
    const { headers, method } = yield* HttpServerRequest.HttpServerRequest
    return { token, method, userAgent: headers["user-agent"] ?? "" }
  })

  const opened = Effect.gen(function*() {
    const { method, token, userAgent } = yield* visit
    const read = links.readOpen(token.replace(/\.gif$/, ""))
    if (Option.isSome(read) && method === "GET") yield* recordOrLog(tracking.opened(read.value.id, userAgent))
    return picture
  })

  const clicked = Effect.gen(function*() {
    const { method, token, userAgent } = yield* visit
    const read = links.readClick(token)
    const url = Option.isSome(read) ? Option.getOrUndefined(yield* tracking.target(read.value)) : undefined
    if (Option.isNone(read) || url === undefined) return brokenLinkPage
    yield* recordOrLog(tracking.clicked({ ...read.value, method, url, userAgent }))
    return HttpServerResponse.empty({ status: 302, headers: { location: url } })
  })

  return [HttpRouter.route("GET", "/t/o/:token", opened), HttpRouter.route("GET", "/t/c/:token", clicked)]
})

/** Serves the tracking pixels and links. */
export const TrackingHttp = HttpRouter.addAll(routes)

import { Cause, Effect, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { readerPage } from "../suppressions/readerPage.ts"
import * as Pages from "../suppressions/ReaderPage.ts"
import { Tracking } from "./Tracking.ts"
import { TrackingLinks } from "./TrackingLinks.ts"

/** One transparent point, 43 bytes. */
const pixel = new Uint8Array(Buffer.from("R0lGODlhAQABAIAAAP///////yH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==", "base64"))

const picture = HttpServerResponse.uint8Array(pixel, { contentType: "image/gif" })

/** A reader gets what they asked for also when it cannot be counted. */
const counting = (effect: Effect.Effect<void>) =>
  Effect.catchCauseIf(
    effect,
    (cause) => !Cause.hasInterrupts(cause),
    (cause) => Effect.logWarning("an open or a click could not be counted", cause)
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
    if (Option.isSome(read) && method === "GET") yield* counting(tracking.opened(read.value.id, userAgent))
    return picture
  })

  const clicked = Effect.gen(function*() {
    const { method, token, userAgent } = yield* visit
    const read = links.readClick(token)
    const url = Option.isSome(read) ? Option.getOrUndefined(yield* tracking.target(read.value)) : undefined
    if (Option.isNone(read) || url === undefined) return readerPage(Pages.brokenLink, 404)
    yield* counting(tracking.clicked({ ...read.value, method, url, userAgent }))
    return HttpServerResponse.empty({ status: 302, headers: { location: url } })
  })

  return [HttpRouter.route("GET", "/t/o/:token", opened), HttpRouter.route("GET", "/t/c/:token", clicked)]
})

/** The pixel and the links that are counted. */
export const TrackingHttp = HttpRouter.addAll(routes)

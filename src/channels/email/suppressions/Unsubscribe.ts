import { Effect, Option } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { readerPage } from "./readerPage.ts"
import * as Pages from "./ReaderPage.ts"
import { Suppressions } from "./Suppressions.ts"
import { UnsubscribeLinks } from "./UnsubscribeLinks.ts"

const routes = Effect.gen(function*() {
  const links = yield* UnsubscribeLinks
  const suppressions = yield* Suppressions

  /** The message of the token in the path and whom it went to. */
  const addressed = Effect.gen(function*() {
    const { token } = yield* HttpRouter.params
    const id = links.messageOf(token ?? "")
    if (Option.isNone(id)) return Option.none()
    return Option.map(yield* suppressions.recipientOf(id.value), (address) => ({ id: id.value, address }))
  })

  const respond = (change: boolean) =>
    Effect.gen(function*() {
      const found = Option.getOrUndefined(yield* addressed)
      if (found === undefined) return readerPage(Pages.unknown, 404)
      if (change) yield* suppressions.unsubscribe(found.id)
      return readerPage(change ? Pages.done(found.address) : Pages.ask(found.address))
    })

  return [
    HttpRouter.route("GET", "/u/style.css", HttpServerResponse.text(Pages.style, { contentType: "text/css" })),
    HttpRouter.route("GET", "/u/:token", respond(false)),
    // RFC 8058: the mail program posts List-Unsubscribe=One-Click, without cookies, and wants no redirect.
    HttpRouter.route("POST", "/u/:token", respond(true))
  ]
})

/** The unsubscribe page and the one-click POST. */
export const UnsubscribeHttp = HttpRouter.addAll(routes)

import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { maxRows, paged, type PageOf, type PageRequest, window } from "../../values/Page.ts"
import { ValidationFailed } from "./ApiErrors.ts"
import { RequestContext } from "./RequestContext.ts"

const links = (url: string, { page, per_page }: PageRequest, total: number) => {
  const last = Math.max(1, Math.ceil(total / per_page))
  const to = (target: number, rel: string) => {
    const [path = "", search = ""] = url.split("?")
    const query = new URLSearchParams(search)
    query.set("page", String(target))
    query.set("per_page", String(per_page))
    return `<${path}?${query}>; rel="${rel}"`
  }
  return [
    to(1, "first"),
    ...(page > 1 ? [to(page - 1, "prev")] : []),
    ...(page < last ? [to(page + 1, "next")] : []),
    to(last, "last")
  ].join(", ")
}

/** Answers a page request: `{ data, meta }` and the `Link` header of RFC 8288. */
export const page = Effect.fnUntraced(function*<A, E, R>(
  request: PageRequest,
  read: (window: { readonly limit: number; readonly offset: number }) => Effect.Effect<PageOf<A>, E, R>
) {
  if (request.page * request.per_page > maxRows) {
    return yield* ValidationFailed.of(
      "page",
      `page × per_page must not exceed ${maxRows}; narrow the list with a filter`
    )
  }
  const rows = yield* read(window(request))
  const { url } = yield* HttpServerRequest.HttpServerRequest
  const { answerHeaders } = yield* RequestContext
  answerHeaders.set("link", links(url, request, rows.total))
  return paged(request, rows)
})

import { Effect, Option } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { errorResponse } from "../../platform/http/ApiError.ts"
import { NotFound } from "../../platform/http/ApiErrors.ts"
import { sandboxMailStyle } from "../pages/LocalPage.ts"
import { isLocalRequest } from "../pages/localRequest.ts"
import { mailMarkup } from "./mailMarkup.ts"
import { readMail } from "./readMail.ts"
import { SandboxInbox, type SandboxMail } from "./SandboxInbox.ts"
import { SandboxMailPages, sandboxMailPath, sandboxMailPolicies } from "./SandboxMailPages.ts"
import { SandboxMailServer } from "./SandboxMailServer.ts"

const perPage = 50

const document = (markup: string, policy: string, status = 200) =>
  HttpServerResponse.text(markup, {
    status,
    contentType: "text/html; charset=utf-8",
    headers: {
      "content-security-policy": policy,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store"
    }
  })

const page = (markup: string, status = 200) => document(markup, sandboxMailPolicies.page, status)

const wholeNumber = (text: string | null | undefined, fallback: number, most: number) =>
  /^[1-9]\d{0,8}$/.test(text ?? "") ? Math.min(Number(text), most) : fallback

const wantsJson = (request: HttpServerRequest.HttpServerRequest) =>
  /\bapplication\/json\b/i.test(request.headers["accept"] ?? "")

const queryOf = (request: HttpServerRequest.HttpServerRequest) =>
  new URLSearchParams(request.url.split("?").slice(1).join("?"))

const list = Effect.fn("SandboxMailHttp.list")(function*(request: HttpServerRequest.HttpServerRequest) {
  const inbox = yield* SandboxInbox
  const query = queryOf(request)
  const asked = {
    to: (query.get("to") ?? "").trim().slice(0, 320),
    page: wholeNumber(query.get("page"), 1, 1_000_000),
    per_page: wholeNumber(query.get("per_page"), perPage, 100)
  }
  const { rows, total } = yield* inbox.list(asked)
  if (wantsJson(request)) {
    return HttpServerResponse.jsonUnsafe({ data: rows, meta: { total, page: asked.page, per_page: asked.per_page } })
  }
  const { port } = yield* SandboxMailServer
  return page(SandboxMailPages.list({ rows, total, ...asked, smtpPort: port }))
})

const found = (
  use: (mail: SandboxMail, request: HttpServerRequest.HttpServerRequest) => Effect.Effect<
    HttpServerResponse.HttpServerResponse
  >
) =>
  Effect.fn("SandboxMailHttp.found")(function*(request: HttpServerRequest.HttpServerRequest) {
    const inbox = yield* SandboxInbox
    const { id } = yield* HttpRouter.params
    const mail = yield* inbox.get(wholeNumber(id, 0, Number.MAX_SAFE_INTEGER))
    if (Option.isSome(mail)) return yield* use(mail.value, request)
    return wantsJson(request) ? yield* errorResponse(new NotFound()) : page(SandboxMailPages.missing(), 404)
  })

const mail = found((stored, request) =>
  Effect.map(readMail(stored.raw), (content) => {
    if (!wantsJson(request)) return page(SandboxMailPages.mail(stored, content))
    const { raw, ...summary } = stored
    return HttpServerResponse.jsonUnsafe({ data: { ...summary, size: raw.length, ...content } })
  })
)

const markup = found((stored) =>
  Effect.map(readMail(stored.raw), (content) => document(mailMarkup(content.html ?? ""), sandboxMailPolicies.markup))
)

const source = found(({ raw }) =>
  Effect.succeed(HttpServerResponse.uint8Array(raw, {
    contentType: "text/plain; charset=utf-8",
    headers: { "content-security-policy": sandboxMailPolicies.source, "x-content-type-options": "nosniff" }
  }))
)

const style = HttpServerResponse.text(sandboxMailStyle, {
  contentType: "text/css; charset=utf-8",
  headers: { "cache-control": "max-age=300" }
})

type Handler = (
  request: HttpServerRequest.HttpServerRequest
) => Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  SandboxInbox | SandboxMailServer | HttpRouter.RouteContext
>

const routes = Effect.gen(function*() {
  const context = yield* Effect.context<SandboxInbox | SandboxMailServer>()
  const get = (path: HttpRouter.PathInput, handler: Handler) =>
    HttpRouter.route("GET", path, (request) =>
      // Strangers get what they would get if there were no inbox.
      isLocalRequest(request) ? Effect.provide(handler(request), context) : errorResponse(new NotFound()))
  return [
    get(sandboxMailPath, list),
    get(`${sandboxMailPath}/style.css`, () => Effect.succeed(style)),
    get(`${sandboxMailPath}/:id`, mail),
    get(`${sandboxMailPath}/:id/html`, markup),
    get(`${sandboxMailPath}/:id/raw`, source)
  ]
})

/**
 * The inbox for people and for curl, to programs on this machine only: the list (JSON for `Accept: application/json`),
 * one mail (likewise), its markup for a frame, its source.
 */
export const SandboxMailHttp = HttpRouter.addAll(routes)

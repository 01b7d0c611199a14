import { Effect, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { errorResponse } from "../../platform/http/ApiError.ts"
import { NotFound } from "../../platform/http/ApiErrors.ts"
import * as LocalPage from "../pages/LocalPage.ts"
import { readMail } from "./readMail.ts"
import { SandboxInbox } from "./SandboxInbox.ts"
import type { SandboxMail } from "./SandboxInboxRepo.ts"
import { SandboxMailPages, sandboxMailPolicies as policies, sandboxMailSite } from "./SandboxMailPages.ts"
import { SandboxMailServer } from "./SandboxMailServer.ts"

type Response = HttpServerResponse.HttpServerResponse

const page = (markup: string, status = 200) => LocalPage.respond(markup, { policy: policies.page, status })

/** One mail as JSON or as a page. */
const show = Effect.fnUntraced(function*(mail: SandboxMail, isJson: boolean) {
  const content = yield* readMail(mail.raw)
  if (!isJson) return page(SandboxMailPages.mail(mail, content))
  const { raw, ...summary } = mail
  return HttpServerResponse.jsonUnsafe({ data: { ...summary, size: raw.length, ...content } })
})

const showMarkup = ({ raw }: SandboxMail) =>
  Effect.map(
    readMail(raw),
    ({ html = "" }) => LocalPage.respond(SandboxMailPages.markup(html), { policy: policies.markup })
  )

const showSource = ({ raw }: SandboxMail) =>
  Effect.succeed(HttpServerResponse.uint8Array(raw, {
    contentType: "text/plain; charset=utf-8",
    headers: { "content-security-policy": policies.source, "x-content-type-options": "nosniff" }
  }))

const routes = Effect.gen(function*() {
  const inbox = yield* SandboxInbox
  const { port } = yield* SandboxMailServer
  const route = yield* LocalPage.routesOf(sandboxMailSite)

  const list = Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const query = LocalPage.queryOf(request)
    const window = {
      to: (query.get("to") ?? "").trim().slice(0, 320),
      page: LocalPage.positiveInt(query.get("page"), 1, 1_000_000),
      per_page: LocalPage.positiveInt(query.get("per_page"), 50, 100)
    }
    const { rows, total } = yield* inbox.list(window)
    return LocalPage.wantsJson(request)
      ? HttpServerResponse.jsonUnsafe({ data: rows, meta: { total, page: window.page, per_page: window.per_page } })
      : page(SandboxMailPages.list({ rows, total, ...window, smtpPort: port }))
  })

  const one = (answer: (mail: SandboxMail, isJson: boolean) => Effect.Effect<Response>) =>
    Effect.gen(function*() {
      const isJson = LocalPage.wantsJson(yield* HttpServerRequest.HttpServerRequest)
      const { id } = yield* HttpRouter.params
      const mail = yield* inbox.get(LocalPage.positiveInt(id, 0, Number.MAX_SAFE_INTEGER))
      if (Option.isSome(mail)) return yield* answer(mail.value, isJson)
      return isJson ? yield* errorResponse(new NotFound()) : page(SandboxMailPages.missing(), 404)
    })

  return [
    route("GET", "", list),
    route("GET", "/style.css", Effect.succeed(LocalPage.styleSheet())),
    route("GET", "/:id", one(show)),
    route("GET", "/:id/html", one(showMarkup)),
    route("GET", "/:id/raw", one(showSource))
  ]
})

/**
 * The inbox for people and for curl: the list, one mail, its markup for a frame, and its source. The list and a mail
 * are also served as JSON (`Accept: application/json`).
 */
export const SandboxMailHttp = HttpRouter.addAll(routes)

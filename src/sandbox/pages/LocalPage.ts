/**
 * Pages of the sandbox. They show one-time codes, so only programs on this machine, or in the networks that the operator
 * named, may read them with the token.
 */
import { Effect, Layer, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import * as NodeFs from "node:fs"
import { type ApiError, errorResponse, isApiError, statusOf } from "../../platform/http/ApiError.ts"
import { Html, html, type HtmlValue } from "../../platform/http/html.ts"
import { queryOf } from "../../platform/http/RequestContext.ts"
import { type Part, SandboxAccess } from "./SandboxAccess.ts"

/** The content of a page. An element with an id and `data-live` stays up to date by itself. */
export interface Page {
  readonly title: string
  readonly content: HtmlValue
  /** For a narrow or a wide layout. */
  readonly kind?: string
}

const read = (name: string) => NodeFs.readFileSync(new URL(name, import.meta.url), "utf8")

/** The style sheet and the script of all pages. The script must not contain its own end tag. */
const assets = { style: read("sandbox.css"), script: read("sandbox.js") } as const

/** A complete document with the tabs of all parts. */
const document = ({ content, kind = "", title }: Page, parts: ReadonlyArray<Part>, current: string): string =>
  `<!doctype html>\n${
    html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Sandbox</title>
<link rel="icon" href="/favicon.svg">
<link rel="stylesheet" href="/sandbox/style.css">
</head>
<body class="${kind}">
<header class="bar"><div>
<a class="brand" href="/sandbox">Sandbox</a>
<nav class="parts" aria-label="Sandbox">${
      parts.map(({ name, path }) =>
        html`<a href="${path}"${path === current && new Html(" aria-current=\"page\"")}>${name}</a>
`
      )
    }</nav>
<a class="docs" href="/docs">API docs</a>
</div></header>
<main>
${content}
</main>
<script>${new Html(assets.script)}</script>
</body>
</html>
`.markup
  }`

const scriptHash = createHash("sha256").update(assets.script).digest("base64")

/** Content-Security-Policy of a page: its style sheet, its one script, its forms, and frames and media from this server. */
const policy = `default-src 'none'; script-src 'sha256-${scriptHash}'; connect-src 'self'; style-src 'self'; `
  + "img-src 'self'; media-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** Answers with a document that is not a page of ours, such as the markup of a mail. */
export const respond = (markup: string, policy: string) =>
  HttpServerResponse.text(markup, {
    contentType: "text/html; charset=utf-8",
    headers: { "content-security-policy": policy }
  })

/** Whether a client wants JSON instead of a page. */
const wantsJson = ({ headers, method }: HttpServerRequest.HttpServerRequest): boolean =>
  method === "DELETE" || /\bapplication\/json\b/i.test(headers["accept"] ?? "")

type Response = HttpServerResponse.HttpServerResponse

const problem = (error: ApiError): Page => ({
  title: statusOf(error) === 404 ? "Not found" : "Error",
  content: html`<div class="card empty"><h1>${
    error._tag === "NotFound" ? "This is not here, or not any more" : "This is not possible"
  }</h1><p class="quiet">${error.message}</p></div>`
})

/** The routes of one part: its answers are pages, or JSON for clients that accept it. */
export const partOf = (part: Part) =>
  Effect.map(SandboxAccess, ({ cookie, parts, refusal }) => {
    const page = (content: Page, status = 200): Response =>
      HttpServerResponse.text(document(content, parts, part.path), {
        status,
        contentType: "text/html; charset=utf-8",
        // Without a referrer browsers hide the origin of a form as well, and the access would refuse it.
        headers: { "content-security-policy": policy, "referrer-policy": "same-origin" }
      })

    /** Answers with JSON to a program, and with a page to a person. */
    const answer = (data: unknown, view: () => Page) =>
      Effect.map(
        HttpServerRequest.HttpServerRequest,
        (request) => wantsJson(request) ? HttpServerResponse.jsonUnsafe(data) : page(view())
      )

    const answerError = (request: HttpServerRequest.HttpServerRequest, error: ApiError) =>
      wantsJson(request) ? errorResponse(error) : Effect.succeed(page(problem(error), statusOf(error)))

    /** A route below the part's own path. Other clients get the 404 of a path that does not exist. */
    const route = <E, R>(
      method: "GET" | "POST" | "DELETE",
      below: "" | `/${string}`,
      handler: Effect.Effect<Response, E, R>
    ) =>
      HttpRouter.route(
        method,
        `${part.path}${below}`,
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
          const token = queryOf(request).get("token")
          const refused = refusal(request, token)
          if (refused !== undefined) {
            return refused._tag === "SandboxTokenMissing" ? answerError(request, refused) : errorResponse(refused)
          }
          const answered = Effect.catchIf(
            handler,
            (error): error is E & ApiError => isApiError(error),
            (error) => answerError(request, error)
          )
          return token === null || Option.isNone(cookie)
            ? answered
            : Effect.map(answered, HttpServerResponse.setHeader("set-cookie", cookie.value))
        })
      )

    return { route, page, answer }
  })

/** Answers a form: the browser then loads the next page. */
export const redirect = (path: string): Response => HttpServerResponse.redirect(path, { status: 303 })

const style = HttpServerResponse.text(assets.style, {
  contentType: "text/css; charset=utf-8",
  headers: { "cache-control": "no-cache" }
})

/** `/sandbox` leads to the first part. The style sheet belongs to all of them, and to the page that asks for the token. */
export const SandboxHome = HttpRouter.addAll(Effect.gen(function*() {
  const { parts: [first], refusal } = yield* SandboxAccess
  if (first === undefined) return []
  const { route } = yield* partOf({ name: "Sandbox", path: "/sandbox" })
  const styled = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const refused = refusal(request, null)
    return refused === undefined || refused._tag === "SandboxTokenMissing"
      ? Effect.succeed(style)
      : errorResponse(refused)
  })
  return [
    route("GET", "", Effect.succeed(redirect(first.path))),
    HttpRouter.route("GET", "/sandbox/style.css", styled)
  ]
})).pipe(Layer.provide(SandboxAccess.layer))

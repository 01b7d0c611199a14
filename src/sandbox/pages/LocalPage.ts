/**
 * Pages of the sandbox. They show one-time codes, so only programs on this machine that have the token may read them.
 */
import { Effect, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { errorResponse } from "../../platform/http/ApiError.ts"
import { NotFound } from "../../platform/http/ApiErrors.ts"
import { type Html, html } from "../../platform/http/html.ts"
import { isLocalRequest, isOwnForm } from "./localRequest.ts"
import { SandboxToken, SandboxTokenMissing } from "./SandboxToken.ts"

/** A page: its title, the part of the sandbox that it belongs to, and the search field in its header. */
export interface Page {
  readonly title: string
  readonly site: { readonly name: string; readonly path: `/${string}` }
  readonly search?: { readonly value: string; readonly placeholder: string; readonly label: string }
}

const searchForm = (path: string, { label, placeholder, value }: NonNullable<Page["search"]>) =>
  html`<form class="search" action="${path}" role="search">
<input type="search" name="to" value="${value}" placeholder="${placeholder}" aria-label="${label}">
<button>Search</button>
</form>
`

/** A complete document. */
export const document = ({ search, site: { name, path }, title }: Page, content: Html): string =>
  `<!doctype html>\n${
    html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · ${name}</title>
<link rel="stylesheet" href="${path}/style.css">
</head>
<body>
<header class="bar"><div>
<a class="brand" href="${path}">${name} <span class="pill">local only</span></a>
${search !== undefined && searchForm(path, search)}</div></header>
<main>
${content}
</main>
</body>
</html>
`.markup
  }`

/** Content-Security-Policy of a page that loads its style sheet and sends its own forms. */
export const policy =
  "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** Answers with a document. */
export const respond = (
  markup: string,
  options: { readonly status?: number; readonly policy?: string; readonly referrer?: "no-referrer" | "same-origin" } =
    {}
) =>
  HttpServerResponse.text(markup, {
    status: options.status ?? 200,
    contentType: "text/html; charset=utf-8",
    headers: {
      "content-security-policy": options.policy ?? policy,
      "referrer-policy": options.referrer ?? "no-referrer"
    }
  })

/** Whether a client prefers JSON to a page. */
export const wantsJson = (request: HttpServerRequest.HttpServerRequest): boolean =>
  /\bapplication\/json\b/i.test(request.headers["accept"] ?? "")

/** The query of a request. */
export const queryOf = (request: HttpServerRequest.HttpServerRequest): URLSearchParams =>
  new URLSearchParams(request.url.split("?").slice(1).join("?"))

const closed = (site: Page["site"], request: HttpServerRequest.HttpServerRequest) => {
  const missing = new SandboxTokenMissing()
  if (wantsJson(request)) return errorResponse(missing)
  const content = html`<div class="card empty"><h1>Token needed</h1><p class="quiet">${missing.message}</p></div>`
  return Effect.succeed(respond(document({ title: "Token needed", site }, content), { status: 403 }))
}

/**
 * Makes the routes of one part of the sandbox, each with the path below the part's own. Without the token a request gets 403. Other machines get the 404 of a path that does
 * not exist, and so does a form that a page of another origin sends. Without any token that is the answer to everybody.
 */
export const routesOf = (site: Page["site"]) =>
  Effect.map(SandboxToken, ({ cookie, opens, token }) => {
    const isForeign = (request: HttpServerRequest.HttpServerRequest) =>
      Option.isNone(token) || !isLocalRequest(request) || (request.method === "POST" && !isOwnForm(request))
    return <E, R>(
      method: "GET" | "POST",
      below: "" | `/${string}`,
      handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
    ) =>
      HttpRouter.route(
        method,
        `${site.path}${below}`,
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
          if (isForeign(request)) return errorResponse(new NotFound())
          const given = queryOf(request).get("token")
          if (!opens({ token: given, cookie: request.headers["cookie"] })) return closed(site, request)
          return given === null || Option.isNone(cookie)
            ? handler
            : Effect.map(handler, HttpServerResponse.setHeader("set-cookie", cookie.value))
        })
      )
  })

/** A positive integer from a path or a query, at most `max`; `fallback` for all other text. */
export const positiveInt = (text: string | null | undefined, fallback: number, max: number): number =>
  /^[1-9]\d{0,8}$/.test(text ?? "") ? Math.min(Number(text), max) : fallback

/** The style sheet of all pages, dark where the reader's system is, followed by the rules of one part. */
export const styleSheet = (rules = "") =>
  HttpServerResponse.text(`${common}\n${rules}`, {
    contentType: "text/css; charset=utf-8",
    headers: { "cache-control": "max-age=300" }
  })

const common = `
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #fff; --line: #e3e6eb; --text: #1a1f29; --quiet: #667085; --accent: #3450d6;
  --tint: #eef1ff; --shade: 0 1px 2px rgb(16 24 40 / 6%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0f1218; --card: #171b23; --line: #2a303c; --text: #e8ebf1; --quiet: #98a2b3; --accent: #93a5ff;
    --tint: #1e2540; --shade: none;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, "Segoe UI", sans-serif; }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
a:focus-visible, input:focus-visible, button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.bar { background: var(--card); border-bottom: 1px solid var(--line); }
.bar > div, main { max-width: 1040px; margin: 0 auto; padding: 0 24px; }
.bar > div { display: flex; align-items: center; gap: 12px 16px; flex-wrap: wrap; padding-top: 13px;
  padding-bottom: 13px; }
.brand { display: flex; align-items: center; gap: 10px; color: inherit; font-weight: 650; margin-right: auto; }
.brand:hover { text-decoration: none; }
.brand::before { content: ""; width: 22px; height: 22px; border-radius: 6px; background: var(--accent); }
.pill { color: var(--accent); background: var(--tint); border-radius: 99px; padding: 1px 10px; font-size: 12px;
  font-weight: 600; }
.search { display: flex; gap: 8px; }
.search input { width: 260px; max-width: 60vw; }
input[type=search], button { font: inherit; color: inherit; background: var(--page); border: 1px solid var(--line);
  border-radius: 8px; padding: 6px 12px; }
button { cursor: pointer; background: var(--card); font-weight: 550; }
main { padding-top: 28px; padding-bottom: 64px; }
h1 { font-size: 22px; line-height: 1.3; margin: 0; overflow-wrap: anywhere; }
.head { display: flex; align-items: baseline; gap: 12px; margin-bottom: 16px; flex-wrap: wrap; }
.quiet { color: var(--quiet); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; box-shadow: var(--shade);
  overflow: hidden; }
.mails { list-style: none; margin: 0; padding: 0; }
.mails li + li { border-top: 1px solid var(--line); }
.mails a { display: grid; grid-template-columns: 15rem 1fr auto; gap: 4px 20px; padding: 12px 20px; color: inherit; }
.mails a:hover { background: var(--tint); text-decoration: none; }
.mails span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.mails .to { font-weight: 600; }
.mails .from { color: var(--quiet); margin-left: 10px; }
.mails time { color: var(--quiet); font-variant-numeric: tabular-nums; font-size: 13px; }
.pages { display: flex; justify-content: space-between; margin-top: 16px; }
.empty { padding: 64px 24px; text-align: center; }
.empty h2 { margin: 0 0 6px; font-size: 17px; }
.empty p { margin: 0 auto; max-width: 34rem; }
code { font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
.hints { margin-top: 28px; }
.hints summary { cursor: pointer; color: var(--quiet); }
.hints dl, .facts { display: grid; grid-template-columns: max-content 1fr; gap: 4px 20px; margin: 12px 0 0; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
.back { display: inline-block; margin-bottom: 14px; }
.summary { padding: 22px 24px 20px; }
.tabs > input { position: absolute; opacity: 0; pointer-events: none; }
.tabs > label, .tabs > a { display: inline-block; padding: 10px 4px; margin: 0 0 0 20px; color: var(--quiet);
  border-bottom: 2px solid transparent; cursor: pointer; font-weight: 550; }
.tabs > a { float: right; margin: 0 20px 0 0; }
.tabs { border-top: 1px solid var(--line); margin-top: 0; }
.tabs > input:checked + label { color: var(--text); border-color: var(--accent); }
.tabs > input:focus-visible + label { outline: 2px solid var(--accent); outline-offset: -4px; border-radius: 8px; }
.panel { display: none; border-top: 1px solid var(--line); }
#show-html:checked ~ .panel.html, #show-text:checked ~ .panel.text, #show-headers:checked ~ .panel.headers,
#show-files:checked ~ .panel.files { display: block; }
iframe { display: block; width: 100%; height: 68vh; border: 0; background: #fff; }
.panel.text pre { margin: 0; padding: 22px 24px; white-space: pre-wrap; overflow-wrap: anywhere; }
.panel.headers, .panel.files { padding: 10px 24px 22px; }
.panel.headers dd { font: 13px/1.6 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
@media (max-width: 720px) {
  .mails a { grid-template-columns: 1fr auto; }
  .mails .subject { grid-column: 1 / -1; grid-row: 2; }
  .facts, .hints dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 8px; }
}
`.trim()

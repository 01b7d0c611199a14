import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { errorResponse } from "../../platform/http/ApiError.ts"
import { NotFound } from "../../platform/http/ApiErrors.ts"
import { html } from "../../platform/http/html.ts"
import { sandboxMailStyle } from "../pages/LocalPage.ts"
import { isLocalRequest } from "../pages/localRequest.ts"
import { makeSandboxSmsRepo, type SandboxSms } from "./SandboxSmsRepo.ts"
import { magicNumbers } from "./specialNumbers.ts"

/** Where the phones are served. */
const path = "/sandbox/sms"

const policy = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const row = ({ encoding, from, parts, parts_received, received_at, text, to }: SandboxSms) =>
  html`<li class="card"><dl class="facts">
<dt>To</dt><dd><a href="${path}?to=${encodeURIComponent(to)}">${to}</a></dd>
<dt>From</dt><dd>${from ?? "(chosen by the provider)"}</dd>
<dt>Received</dt><dd><time datetime="${received_at}">${received_at.slice(0, 19).replace("T", " ")} UTC</time>,
${parts_received} of ${parts} in ${encoding}</dd>
</dl><pre>${text}</pre></li>
`

const hints = html`<details class="hints"><summary>Numbers that fail on purpose</summary>
<dl>${
  magicNumbers.map(({ meaning, number }) =>
    html`<dt><code>${number}</code></dt><dd>${meaning}</dd>
`
  )
}</dl></details>`

const page = (rows: ReadonlyArray<SandboxSms>, to: string) =>
  `<!doctype html>\n${
    html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>SMS · Sandbox phones</title>
<link rel="stylesheet" href="${path}/style.css">
</head>
<body>
<header class="bar"><div>
<a class="brand" href="${path}">Sandbox phones <span class="pill">local only</span></a>
<form class="search" action="${path}" role="search">
<input type="search" name="to" value="${to}" placeholder="+250788123456" aria-label="Search by number">
<button>Search</button>
</form>
</div></header>
<main>
<div class="head"><h1>SMS</h1></div>
${
      rows.length === 0
        ? html`<div class="card empty"><h2>No SMS</h2>
<p class="quiet">No carrier is configured, so every SMS lands here instead of on a phone.</p></div>`
        : html`<ol class="texts">${rows.map(row)}</ol>`
    }
${hints}
</main>
</body>
</html>
`.markup
  }`

const style = HttpServerResponse.text(sandboxMailStyle, { contentType: "text/css; charset=utf-8" })

const wholeNumber = (text: string | null, fallback: number, most: number) =>
  /^[1-9]\d{0,5}$/.test(text ?? "") ? Math.min(Number(text), most) : fallback

const routes = Effect.gen(function*() {
  const repo = yield* makeSandboxSmsRepo

  const list = Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const query = new URLSearchParams(request.url.split("?").slice(1).join("?"))
    // In a query a bare + is a space.
    const to = (query.get("to") ?? "").trim().replace(/^(?=\d)/, "+").slice(0, 20)
    const per = wholeNumber(query.get("per_page"), 50, 100)
    const at = wholeNumber(query.get("page"), 1, 1_000)
    const rows = yield* Effect.orDie(repo.list({ to, limit: per, offset: (at - 1) * per }))
    return /\bapplication\/json\b/i.test(request.headers["accept"] ?? "")
      ? HttpServerResponse.jsonUnsafe({ data: rows })
      : HttpServerResponse.text(page(rows, to), {
        contentType: "text/html; charset=utf-8",
        headers: { "content-security-policy": policy }
      })
  })

  const local = <E, R>(answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      // Strangers get what they would get if there were no phones.
      isLocalRequest(request) ? answer : errorResponse(new NotFound()))

  return [
    HttpRouter.route("GET", path, local(list)),
    HttpRouter.route("GET", `${path}/style.css`, local(Effect.succeed(style)))
  ]
})

/** The phones' texts for people and for curl (JSON for `Accept: application/json`), to programs on this machine only. */
export const SandboxSmsHttp = HttpRouter.addAll(routes)

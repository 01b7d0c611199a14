/** The page at `/`, for people who open the address that the start printed. In production it names the program alone. */
import { Effect, Layer, Option } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { upstreams } from "../../platform/config/Upstreams.ts"
import { Html, html } from "../../platform/http/html.ts"
import { readiness } from "../../platform/observability/Health.ts"
import { isLocalRequest } from "../../sandbox/pages/localRequest.ts"
import { SandboxToken } from "../../sandbox/pages/SandboxToken.ts"
import { destinations } from "./destinations.ts"

const style = `
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--line:#e3e6eb;--text:#1a1f29;--quiet:#5b6472;--accent:#3450d6;
--good:#12693a;--bad:#a4262c}
@media(prefers-color-scheme:dark){:root{--page:#0f1218;--card:#171b23;--line:#2a303c;--text:#e8ebf1;--quiet:#a3adbb;
--accent:#93a5ff;--good:#6fd39b;--bad:#ff9a93}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:16px/1.55 system-ui,"Segoe UI",sans-serif}
main{max-width:44rem;margin:0 auto;padding:3.5rem 1.25rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .25rem}
h2{font-size:1rem;margin:2.25rem 0 .6rem}
p{margin:0}
.quiet{color:var(--quiet)}
.state{margin-top:1rem;font-weight:600}
.good{color:var(--good)}
.bad{color:var(--bad)}
a{color:var(--accent)}
a:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
ul,dl,pre{margin:0;background:var(--card);border:1px solid var(--line);border-radius:.6rem}
ul{list-style:none;padding:0}
li{padding:.6rem 1rem}
li+li{border-top:1px solid var(--line)}
li span{display:block}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.35rem 1.25rem;padding:.75rem 1rem}
dt{font-weight:600}
dd{margin:0;overflow-wrap:anywhere}
pre{padding:.75rem 1rem;white-space:pre-wrap;overflow-wrap:anywhere;font:.85rem/1.6 ui-monospace,Menlo,Consolas,monospace}
`.trim()

const policy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; `
  + "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const icon =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#3450d6"/>`
  + `<path d="M7 10.5h18v12H7z M7 10.5l9 7 9-7" fill="none" stroke="#fff" stroke-width="2" stroke-linejoin="round"/></svg>`

const iconHeaders = { "cache-control": "public, max-age=86400", "content-security-policy": "default-src 'none'" }

/** Browsers ask for the first path on pages that name no icon. */
const Icons = HttpRouter.addAll(
  (["/favicon.ico", "/favicon.svg"] as const).map((path) =>
    HttpRouter.route(
      "GET",
      path,
      Effect.succeed(HttpServerResponse.text(icon, { contentType: "image/svg+xml", headers: iconHeaders }))
    )
  )
)

const link = (href: string, name: string, what: string) =>
  html`<li><a href="${href}">${name}</a> <span class="quiet">${what}</span></li>
`

const respond = (content: Html, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.text(
    html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Messaging Service</title>
<link rel="icon" href="/favicon.svg">
<style>${new Html(style)}</style>
</head>
<body><main>
<h1>Messaging Service</h1>
<p class="quiet">Email, SMS, WhatsApp and one-time codes over one HTTP API.</p>
${content}</main></body>
</html>
`.markup,
    { contentType: "text/html; charset=utf-8", headers: { "content-security-policy": policy, ...headers } }
  )

const links = (sandbox: ReadonlyArray<Html>) =>
  html`<h2>Open</h2>
<ul>
${link("/console/", "Console", "Everything that the service does, in the browser.")}${
    link("/docs", "API reference", "Every endpoint, to read and to try.")
  }${sandbox}${link("/openapi.json", "OpenAPI document", "For generators of clients.")}${
    link("/health/ready", "Health", "For load balancers: whether this node takes requests.")
  }</ul>
`

const channelList = (channels: Readonly<Record<string, string | undefined>>) =>
  html`<h2>Where messages go</h2>
<dl>
${
    Object.entries(channels).map(([name, target]) =>
      html`<dt>${name}</dt><dd>${target ?? "the sandbox on this machine; it reaches no recipient"}</dd>
`
    )
  }</dl>
`

const example = (base: string) =>
  html`<h2>Send a mail</h2>
<pre>curl ${base}/v1/email/send -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"to":"ada@example.com","subject":"Hello","text":"It works."}'</pre>
<p class="quiet">No key any more? Run npm run cli -- account key 1</p>
`

const sandboxLinks = [
  ["smtpUrl", "mail", "Sandbox: mail", "The mails that the service sent."],
  ["smsProvider", "sms", "Sandbox: SMS", "The texts and codes that it sent."],
  ["whatsappUrl", "phones", "Sandbox: phones", "Simulated WhatsApp phones that pair and answer."]
] as const

const unready = { draining: "this node shuts down", unavailable: "the database does not answer" } as const

/** The whole page, for a client on this machine. */
const localPage = Effect.gen(function*() {
  const chosen = yield* upstreams
  const { state: readyState } = yield* readiness
  const { cookie, opens, token } = yield* SandboxToken
  const parts = sandboxLinks.filter(([setting]) => Option.isSome(token) && chosen[setting] === "sandbox")
  const sandbox = parts.map(([, path, name, what]) => link(`/sandbox/${path}`, name, what))
  return (request: HttpServerRequest.HttpServerRequest) =>
    Effect.map(readyState, (now) => {
      const state = now === "ok"
        ? html`<p class="state good">Ready</p>`
        : html`<p class="state bad">Not ready: ${unready[now]}</p>`
      const content = html`${state}
${channelList(destinations(chosen))}${links(sandbox)}${example(`http://${request.headers["host"] ?? ""}`)}`
      const given = new URLSearchParams(request.url.split("?")[1]).get("token")
      const isGiven = given !== null && opens({ token: given }) && Option.isSome(cookie)
      return respond(content, isGiven ? { "set-cookie": cookie.value } : {})
    })
})

const Page = HttpRouter.use(Effect.fnUntraced(function*(router) {
  const { mode } = yield* AppConfig
  const bare = Effect.succeed(respond(links([])))
  const whole = mode === "production" ? () => bare : yield* localPage
  yield* router.add(
    "GET",
    "/",
    (request: HttpServerRequest.HttpServerRequest) => isLocalRequest(request) ? whole(request) : bare
  )
}))

/** The first page and the icon of all pages. */
export const HomePage = Layer.mergeAll(Page, Icons)

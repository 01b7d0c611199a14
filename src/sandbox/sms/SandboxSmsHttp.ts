import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { html } from "../../platform/http/html.ts"
import * as LocalPage from "../pages/LocalPage.ts"
import { type SandboxSms, SandboxSmsRepo } from "./SandboxSmsRepo.ts"
import { specialNumbers } from "./specialNumbers.ts"

const site = { name: "Sandbox phones", path: "/sandbox/sms" } as const

const row = ({ encoding, from, parts, parts_received, received_at, text, to }: SandboxSms) =>
  html`<li class="card"><dl class="facts">
<dt>To</dt><dd><a href="${site.path}?to=${encodeURIComponent(to)}">${to}</a></dd>
<dt>From</dt><dd>${from ?? "(chosen by the provider)"}</dd>
<dt>Received</dt><dd><time datetime="${received_at}">${received_at.slice(0, 19).replace("T", " ")} UTC</time>,
${parts_received} of ${parts} in ${encoding}</dd>
</dl><pre>${text}</pre></li>
`

const hints = html`<details class="hints"><summary>Numbers that fail on purpose</summary>
<dl>${
  specialNumbers.map(({ meaning, number }) =>
    html`<dt><code>${number}</code></dt><dd>${meaning}</dd>
`
  )
}</dl></details>`

const page = (rows: ReadonlyArray<SandboxSms>, to: string) =>
  LocalPage.document(
    {
      title: "SMS",
      site,
      search: { value: to, placeholder: "+250788123456", label: "Search by number" }
    },
    html`<div class="head"><h1>SMS</h1></div>
${
      rows.length === 0
        ? html`<div class="card empty"><h2>No SMS</h2>
<p class="quiet">No carrier is configured, so this page shows every SMS that the service sends.</p></div>`
        : html`<ol class="texts">${rows.map(row)}</ol>`
    }
${hints}`
  )

const routes = Effect.gen(function*() {
  const repo = yield* SandboxSmsRepo
  const route = yield* LocalPage.routesOf(site)

  const list = Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const query = LocalPage.queryOf(request)
    // In a query a bare + is a space.
    const to = (query.get("to") ?? "").trim().replace(/^(?=\d)/, "+").slice(0, 20)
    const limit = LocalPage.positiveInt(query.get("per_page"), 50, 100)
    const pageNumber = LocalPage.positiveInt(query.get("page"), 1, 1_000)
    const rows = yield* repo.list({ to, limit, offset: (pageNumber - 1) * limit })
    return LocalPage.wantsJson(request)
      ? HttpServerResponse.jsonUnsafe({ data: rows })
      : LocalPage.respond(page(rows, to))
  })

  return [
    route("GET", "", list),
    route("GET", "/style.css", Effect.succeed(LocalPage.styleSheet()))
  ]
})

/** The texts of the phones for people and for curl, as a page and as JSON (`Accept: application/json`). */
export const SandboxSmsHttp = HttpRouter.addAll(routes).pipe(Layer.provide(SandboxSmsRepo.layer))

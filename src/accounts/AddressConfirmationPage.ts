import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { html } from "../platform/http/html.ts"
import * as ReaderPage from "../platform/http/ReaderPage.ts"
import { AddressConfirmations } from "./AddressConfirmations.ts"

/** Asks first. A GET changes nothing, because mail scanners open every link. */
const question = (email: string) =>
  ReaderPage.respond(
    "Confirm your email address",
    html`<h1>Confirm your email address</h1>
<p>Did you register an account with <span class="address">${email}</span>?</p>
<form method="post"><button>Confirm</button></form>`
  )

const result = (email: string) =>
  ReaderPage.respond(
    "Email address confirmed",
    html`<h1>Email address confirmed</h1>
<p>The account of <span class="address">${email}</span> may send now.</p>`
  )

const expiredPage = ReaderPage.respond(
  "Link expired",
  html`<h1>This link is unknown or expired</h1>
<p>A confirmation works for three days. Request another mail with <code>POST /v1/auth/confirmation</code>.</p>`,
  410
)

const routes = Effect.gen(function*() {
  const { confirm, find } = yield* AddressConfirmations

  const respond = (method: "GET" | "POST") =>
    Effect.gen(function*() {
      const { token = "" } = yield* HttpRouter.params
      return method === "GET" ? question(yield* find(token)) : result(yield* confirm(token))
    }).pipe(Effect.catchTag("TokenExpired", () => Effect.succeed(expiredPage)))

  return [
    HttpRouter.route("GET", "/account/confirm/:token", respond("GET")),
    HttpRouter.route("POST", "/account/confirm/:token", respond("POST"))
  ]
})

/** Serves the page of the link in the mail after a registration. */
export const AddressConfirmationPage = HttpRouter.addAll(routes)

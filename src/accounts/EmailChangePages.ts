import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { html } from "../platform/http/html.ts"
import * as ReaderPage from "../platform/http/ReaderPage.ts"
import { actionOf, type EmailChange, EmailChanges, type LinkAction } from "./EmailChanges.ts"

/** Asks first. A GET changes nothing, because mail scanners open every link. */
const questions: Readonly<Record<LinkAction, (change: EmailChange) => ReturnType<typeof ReaderPage.respond>>> = {
  confirm: ({ new_email }) =>
    ReaderPage.respond(
      "Confirm your email address",
      html`<h1>Confirm your email address</h1>
<p>Use <span class="address">${new_email}</span> for your account from now on?</p>
<form method="post"><button>Confirm</button></form>`
    ),
  undo: ({ old_email }) =>
    ReaderPage.respond(
      "Restore your email address",
      html`<h1>Restore your email address</h1>
<p>Give the account its address <span class="address">${old_email}</span> back? All login sessions end, passkeys, the
authenticator app and recovery codes are removed, and you get a mail to set a new password.</p>
<form method="post"><button>Restore</button></form>`
    )
}

const results: typeof questions = {
  confirm: ({ new_email }) =>
    ReaderPage.respond(
      "Email address confirmed",
      html`<h1>Email address confirmed</h1>
<p>Your account has the address <span class="address">${new_email}</span> now.</p>`
    ),
  undo: ({ old_email }) =>
    ReaderPage.respond(
      "Email address restored",
      html`<h1>Email address restored</h1>
<p>The account has the address <span class="address">${old_email}</span> again. All login sessions were ended, and passkeys,
the authenticator app and recovery codes removed. A mail with a token for a new password follows.</p>
<p>API keys stay valid. Check them (<code>GET /v1/api-keys</code>), and revoke those that you do not recognise.</p>`
    )
}

const expiredPage = ReaderPage.respond(
  "Link expired",
  html`<h1>This link is unknown, used or expired</h1>
<p>A confirmation works once, within 24 hours, until another address is requested. A change can be undone once, within 7
days.</p>`,
  410
)

const takenPage = ReaderPage.respond(
  "Email address taken",
  html`<h1>This email address is taken</h1>
<p>Another account has this address by now. Nothing was changed.</p>`,
  409
)

const routes = Effect.gen(function*() {
  const changes = yield* EmailChanges

  const respond = (method: "GET" | "POST") =>
    Effect.gen(function*() {
      const { token = "" } = yield* HttpRouter.params
      const action = actionOf(token)
      if (action === undefined) return expiredPage
      if (method === "GET") return questions[action](yield* changes.find(token))
      return results[action](yield* changes[action](token))
    }).pipe(
      Effect.catchTags({
        TokenExpired: () => Effect.succeed(expiredPage),
        EmailTaken: () => Effect.succeed(takenPage)
      })
    )

  return [
    HttpRouter.route("GET", "/account/email/:token", respond("GET")),
    HttpRouter.route("POST", "/account/email/:token", respond("POST"))
  ]
})

/** Serves the pages of the links in mails about a new email address. */
export const EmailChangePages = HttpRouter.addAll(routes)

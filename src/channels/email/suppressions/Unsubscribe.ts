import { Context, Effect, Layer, Option } from "effect"
import { HttpRouter } from "effect/http"
import { timingSafeEqual } from "node:crypto"
import { MacKeys } from "../../../platform/crypto/MacKeys.ts"
import { shortMac } from "../../../platform/crypto/Vault.ts"
import { html } from "../../../platform/http/html.ts"
import { PublicUrl } from "../../../platform/http/PublicUrl.ts"
import * as ReaderPage from "../../../platform/http/ReaderPage.ts"
import { EmailMessageId } from "../../../values/Ids.ts"
import { Suppressions } from "./Suppressions.ts"

const macLength = 12

/**
 * The unsubscribe links of messages: `/u/{token}`. The token names the message and carries a MAC, so that guessing ids
 * cannot unsubscribe other people. Links never expire.
 */
export class UnsubscribeLinks extends Context.Service<UnsubscribeLinks, {
  /** Returns the link of a message. */
  readonly urlOf: (id: EmailMessageId) => string
  /** Returns the message that a valid token names. */
  readonly messageOf: (token: string) => Option.Option<EmailMessageId>
}>()("messaging-service/channels/email/suppressions/Unsubscribe/UnsubscribeLinks") {
  static readonly layer = Layer.effect(
    UnsubscribeLinks,
    Effect.gen(function*() {
      const { unsubscribe: key } = yield* MacKeys
      const publicUrl = yield* PublicUrl
      const macOf = (id: string) => shortMac(key, id, macLength)
      return UnsubscribeLinks.of({
        urlOf: (id) => `${publicUrl.base}/u/${id}-${macOf(String(id)).toString("base64url")}`,
        messageOf: (token) => {
          const [, id, mac] = /^(\d{1,16})-([A-Za-z0-9_-]{16})$/.exec(token) ?? []
          if (id === undefined || mac === undefined) return Option.none()
          return timingSafeEqual(macOf(id), Buffer.from(mac, "base64url"))
            ? Option.some(EmailMessageId.make(Number(id)))
            : Option.none()
        }
      })
    })
  )
}

/** Asks first. A GET changes nothing, because mail scanners open every link. */
const confirmationPage = (address: string) =>
  ReaderPage.respond(
    "Unsubscribe",
    html`<h1>Unsubscribe</h1>
<p>Stop all mail from this sender to <span class="address">${address}</span>?</p>
<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button>Unsubscribe</button></form>`
  )

const donePage = (address: string) =>
  ReaderPage.respond(
    "Unsubscribed",
    html`<h1>Unsubscribed</h1>
<p>This sender will not email <span class="address">${address}</span> again.</p>`
  )

const unknownPage = ReaderPage.respond(
  "Unknown link",
  html`<h1>This link is unknown</h1>
<p>The link may be incomplete. Open it from the mail again, or reply to the mail and ask to be removed.</p>`,
  404
)

const routes = Effect.gen(function*() {
  const links = yield* UnsubscribeLinks
  const suppressions = yield* Suppressions

  const respond = (method: "GET" | "POST") =>
    Effect.gen(function*() {
      const { token = "" } = yield* HttpRouter.params
      const id = Option.getOrUndefined(links.messageOf(token))
      const address = id === undefined ? undefined : Option.getOrUndefined(yield* suppressions.recipientOf(id))
      if (id === undefined || address === undefined) return unknownPage
      if (method === "GET") return confirmationPage(address)
      yield* suppressions.unsubscribe(id)
      return donePage(address)
    })

  return [
    HttpRouter.route("GET", "/u/:token", respond("GET")),
    // RFC 8058: the mail program posts List-Unsubscribe=One-Click without cookies and expects no redirect.
    HttpRouter.route("POST", "/u/:token", respond("POST"))
  ]
})

/** Serves the unsubscribe page and the one-click POST. */
export const UnsubscribeHttp = HttpRouter.addAll(routes)

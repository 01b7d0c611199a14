import { Context, Effect, Layer, Option, Result } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { IpNetwork, NetAddress } from "effect/net"
import { randomBytes } from "node:crypto"
import type { SignedIn } from "../../people/Person.ts"
import { SignIns } from "../../people/SignIns.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { MacKeys } from "../../platform/crypto/MacKeys.ts"
import { NotFound } from "../../platform/http/ApiErrors.ts"
import { PublicUrl } from "../../platform/http/PublicUrl.ts"
import { queryOf } from "../../platform/http/RequestContext.ts"
import { isSpoken, type Language, Messages, preferred } from "../language/Messages.ts"
import type { Ask } from "../page/Ask.ts"
import { actionField, tokenField } from "../ui/form.ts"
import { type Approach, approachOf, type Cookie, signInCookie, tokenOf } from "./Browser.ts"
import { formToken, isFormToken, isOwnPage } from "./genuine.ts"

type Request = HttpServerRequest.HttpServerRequest

/** A request, before its page is known to be allowed. */
export interface Visit {
  readonly request: Request
  readonly approach: Approach
  /** Undefined for a browser that is not signed in. */
  readonly signedIn: SignedIn | undefined
  readonly ask: Ask
  /** The cookies that every answer to this request sets. */
  readonly cookies: ReadonlyArray<Cookie>
}

/** The language that the address asks for, then the person's, then the browser's. */
const languageOf = (request: Request, signedIn: SignedIn | undefined): Language => {
  const asked = queryOf(request).get("lang")
  if (asked !== null && isSpoken(asked)) return asked
  const own = signedIn?.person.locale
  return own !== undefined && isSpoken(own) ? own : preferred(request.headers["accept-language"])
}

/** Passkeys belong to a name: that of the public address, or this machine's. */
const partyOf = ({ isLoopback, isSecure, origin }: Approach, base: string) => {
  const host = URL.parse(origin)?.hostname ?? ""
  const isOwn = isSecure ? host === URL.parse(base)?.hostname : isLoopback && host === "localhost"
  return isOwn ? { host, origin } : undefined
}

/** Forms of a browser that is not signed in are bound to nothing more than our own pages. */
const boundTo = (signedIn: SignedIn | undefined, action: string) => `${signedIn?.sign_in_id ?? "door"} ${action}`

const timesOf = (person: SignedIn["person"] | undefined) => ({
  timezone: person?.timezone ?? "UTC",
  hourCycle: person === undefined || person.hour_cycle === "language" ? undefined : person.hour_cycle
})

/**
 * Reads who asks for which page.
 *
 * @effect-expect-leaking HttpServerRequest | RouteContext
 */
export class Visits extends Context.Service<Visits, {
  /** What a request says by itself: its browser is not signed in yet. Reads nothing from the database. */
  readonly arrived: Effect.Effect<Visit, never, Request | HttpRouter.RouteContext>
  /** The same visit with the person of the browser's token. */
  readonly identified: (arrived: Visit) => Effect.Effect<Visit>
  /** Whether one of our pages sent a form, and this sign-in got that page. */
  readonly isGenuine: (visit: Visit, form: URLSearchParams) => boolean
}>()("messaging-service/console/gate/Visits") {
  static readonly layer = Layer.effect(
    Visits,
    Effect.gen(function*() {
      const { console: key } = yield* MacKeys
      const { base } = yield* PublicUrl
      const messages = yield* Messages
      const signIns = yield* SignIns
      const { consoleAllow } = yield* AppConfig

      /** Whether the client is in one of the networks that may open the console. */
      const isAllowed = ({ remoteAddress }: Request) => {
        if (consoleAllow === undefined) return true
        const client = NetAddress.ipFromString(Option.getOrElse(remoteAddress, () => ""))
        if (Result.isFailure(client)) return false
        const address = NetAddress.toCanonical(client.success)
        return consoleAllow.some((network) => IpNetwork.contains(network, address))
      }

      const sealOf = (signedIn: SignedIn | undefined): Ask["seal"] => (action) => ({
        token: formToken(key, boundTo(signedIn, action)),
        once: randomBytes(16).toString("base64url")
      })

      /** The sign-in of the browser's token, and the cookies that replace a token that is old or void. */
      const signInOf = Effect.fnUntraced(function*({ approach, request }: Visit) {
        const token = tokenOf(request, approach)
        if (token === "") return { signedIn: undefined, cookies: [] }
        const signedIn = Option.getOrUndefined(yield* signIns.find(token))
        if (signedIn === undefined) return { signedIn, cookies: [signInCookie(approach, null)] }
        if (!signedIn.is_due) return { signedIn, cookies: [] }
        const renewed = Option.toArray(yield* signIns.renew(signedIn.sign_in_id))
        return { signedIn, cookies: renewed.map((next) => signInCookie(approach, next)) }
      })

      const arrived = Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        if (!isAllowed(request)) return yield* Effect.die(new NotFound())
        const approach = approachOf(request, base)
        const ask: Ask = {
          ...timesOf(undefined),
          t: yield* messages.in(languageOf(request, undefined)),
          params: yield* HttpRouter.params,
          query: queryOf(request),
          path: request.url.split("?")[0] ?? "",
          isPrivate: approach.isSecure || approach.isLoopback,
          base: approach.isLoopback ? approach.origin : base,
          party: partyOf(approach, base),
          attempt: undefined,
          isUpdate: request.headers["x-update"] !== undefined,
          since: request.headers["x-update"],
          seal: sealOf(undefined)
        }
        const visit: Visit = { request, approach, signedIn: undefined, ask, cookies: [] }
        return visit
      })

      const identified = Effect.fnUntraced(function*(visit: Visit) {
        const { cookies, signedIn } = yield* signInOf(visit)
        if (signedIn === undefined) return { ...visit, cookies }
        const t = yield* messages.in(languageOf(visit.request, signedIn))
        const ask: Ask = { ...visit.ask, ...timesOf(signedIn.person), t, seal: sealOf(signedIn) }
        return { ...visit, signedIn, ask, cookies }
      })

      return Visits.of({
        arrived,
        identified,
        isGenuine: ({ approach, request, signedIn }, form) =>
          isOwnPage(request.headers, approach.origin) &&
          isFormToken(key, boundTo(signedIn, form.get(actionField) ?? ""), form.get(tokenField) ?? "")
      })
    })
  )
}

/** What the console knows about the browser of a request, and what it keeps there. */
import { type Duration, Redacted } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { isLocalRequest } from "../../sandbox/pages/localRequest.ts"
import type { Key } from "../language/Messages.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** How a browser reached the console. */
export interface Approach {
  /** `https` at the proxy in front of the service. */
  readonly isSecure: boolean
  /** Plain http that does not leave this machine. */
  readonly isLoopback: boolean
  /** Scheme and host, as the browser names them. */
  readonly origin: string
}

/** `base` is the public address of the service: it says whether a proxy speaks TLS. */
export const approachOf = (request: Request, base: string): Approach => {
  const host = request.headers["host"] ?? ""
  const known = URL.parse(base)
  const isSecure = known?.protocol === "https:" && known.host.toLowerCase() === host.toLowerCase()
  return {
    isSecure,
    isLoopback: !isSecure && isLocalRequest(request),
    origin: `${isSecure ? "https" : "http"}://${host}`
  }
}

/** Browsers keep cookies with this prefix to the one host, and never send them unencrypted. */
const cookieName = ({ isSecure }: Approach) => isSecure ? "__Host-console" : "console"

const cookies = ({ headers }: Request): ReadonlyMap<string, string> =>
  new Map(
    (headers["cookie"] ?? "").split(";").map((part) => {
      const [name = "", ...value] = part.trim().split("=")
      return [name, value.join("=")] as const
    })
  )

/** The token of the sign-in of a browser. */
export const tokenOf = (request: Request, approach: Approach): string =>
  cookies(request).get(cookieName(approach)) ?? ""

/** A cookie that only the console reads. */
export interface Cookie {
  readonly name: string
  readonly value: string
  readonly maxAge: Duration.Input
}

/** Keeps a token in the browser for 30 days; null removes it. */
export const signInCookie = (approach: Approach, token: Redacted.Redacted | null): Cookie => ({
  name: cookieName(approach),
  value: token === null ? "" : Redacted.value(token),
  maxAge: token === null ? 0 : "30 days"
})

/** What the last form has done: the next page shows the sentence once, and removes the cookie. */
export const doneCookie = (done: Key | null): Cookie => ({
  name: "console-done",
  value: done ?? "",
  maxAge: done === null ? 0 : "1 minute"
})

export const doneOf = (request: Request): string | undefined => cookies(request).get("console-done")

/** Adds cookies to an answer. */
export const withCookies = (response: Response, { isSecure }: Approach, given: ReadonlyArray<Cookie>): Response =>
  given.reduce(
    (answer, { maxAge, name, value }) =>
      HttpServerResponse.setCookieUnsafe(answer, name, value, {
        path: "/",
        httpOnly: true,
        sameSite: "lax",
        secure: isSecure,
        maxAge
      }),
    response
  )

/** Headers of every page. Nothing of another host is loaded, and nothing is inline. */
export const pageHeaders = (isSecure: boolean): Readonly<Record<string, string>> => ({
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; "
    + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-store",
  // A form's own origin is hidden without a referrer.
  "referrer-policy": "same-origin",
  "x-robots-tag": "noindex, nofollow",
  ...(isSecure && { "strict-transport-security": "max-age=31536000" })
})

/** Headers of foreign markup in a frame: it runs nothing, loads nothing, sends nothing, and has no origin. */
export const frameHeaders = (isSecure: boolean): Readonly<Record<string, string>> => ({
  ...pageHeaders(isSecure),
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    + "base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox"
})

import { Redacted, Result, Schema } from "effect"
import * as NodeNet from "node:net"

/** How to reach a relay. */
export interface RelayAddress {
  readonly host: string
  readonly port: number
  /** `implicit`: TLS from the first byte; `required`: STARTTLS or nothing; `offered`: STARTTLS when the relay has it. */
  readonly tls: "implicit" | "required" | "offered" | "never"
  /** False accepts any certificate. */
  readonly verifyCertificate: boolean
  readonly credentials?: { readonly user: string; readonly password: Redacted.Redacted<string> }
}

/** The relay's URL cannot be used; `reason` is one sentence that never repeats the URL, for it may hold a password. */
export class SmtpUrlInvalid extends Schema.TaggedError<SmtpUrlInvalid>()("SmtpUrlInvalid", {
  reason: Schema.String
}) {}

const invalid = (reason: string) => Result.fail(new SmtpUrlInvalid({ reason }))

const decoded = (text: string): Result.Result<string, SmtpUrlInvalid> =>
  /%(?![0-9a-f]{2})/i.test(text)
    ? invalid("user or password has a % that is not an escape; write % as %25")
    : Result.try({
      try: () => decodeURIComponent(text),
      catch: () => new SmtpUrlInvalid({ reason: "user or password is not percent-encoded UTF-8" })
    })

const isLoopback = (host: string) => host === "localhost" || host === "::1" || host.startsWith("127.")

const tlsModes = new Set(["required", "offered", "never"])

const tlsOf = (url: URL, host: string): Result.Result<RelayAddress["tls"], SmtpUrlInvalid> => {
  const asked = url.searchParams.get("tls")
  if (url.protocol === "smtps:") {
    return asked === null ? Result.succeed("implicit") : invalid("smtps:// takes no tls option")
  }
  if (asked === "required" || asked === "offered" || asked === "never") return Result.succeed(asked)
  if (asked !== null) return invalid(`tls must be one of ${[...tlsModes].join(", ")}`)
  // A password must not cross a network in clear because somebody in the middle removed STARTTLS from the EHLO answer.
  return Result.succeed(url.username !== "" && !isLoopback(host) ? "required" : "offered")
}

const credentialsOf = (url: URL): Result.Result<RelayAddress["credentials"], SmtpUrlInvalid> =>
  url.username === "" && url.password === ""
    ? Result.succeed(undefined)
    : url.username === "" || url.password === ""
    ? invalid("user and password go together: smtp://user:password@host")
    : Result.gen(function*() {
      const user = yield* decoded(url.username)
      const password = yield* decoded(url.password)
      return { user, password: Redacted.make(password) }
    })

const options = new Set(["tls", "verify"])

/**
 * Reads `smtp://` (587) and `smtps://` (465) URLs: user and password percent-encoded, `?tls=required|offered|never`
 * (required is the default for a password that leaves the machine), `?verify=false` for a self-signed certificate.
 */
export const parseSmtpUrl = (text: string): Result.Result<RelayAddress, SmtpUrlInvalid> =>
  Result.gen(function*() {
    const url = URL.parse(text)
    if (url === null || (url.protocol !== "smtp:" && url.protocol !== "smtps:")) {
      return yield* invalid("must look like smtp://host:port or smtps://user:password@host")
    }
    const host = url.hostname.replace(/^\[(.*)\]$/, "$1")
    if (host === "") return yield* invalid("names no host")
    if (NodeNet.isIP(host) === 0 && !/^[\w.-]+$/.test(host)) return yield* invalid("the host is not a host name")
    if (url.pathname !== "" && url.pathname !== "/") return yield* invalid("has a path; a relay has none")
    const unknown = [...url.searchParams.keys()].find((key) => !options.has(key))
    if (unknown !== undefined) return yield* invalid(`has an unknown option; known are ${[...options].join(", ")}`)
    const tls = yield* tlsOf(url, host)
    const credentials = yield* credentialsOf(url)
    return {
      host,
      port: url.port === "" ? url.protocol === "smtps:" ? 465 : 587 : Number(url.port),
      tls,
      verifyCertificate: url.searchParams.get("verify") !== "false",
      ...(credentials === undefined ? {} : { credentials })
    }
  })

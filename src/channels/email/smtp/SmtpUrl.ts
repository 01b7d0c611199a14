import { Redacted, Result, Schema } from "effect"
import * as NodeNet from "node:net"
import * as NodeOs from "node:os"
import { isLoopbackHost } from "../../../values/publicAddress.ts"
import type { RelayAddress } from "./Smtp.ts"

/** The relay's URL is invalid. `reason` never repeats the URL, which may contain a password. */
export class SmtpUrlInvalid extends Schema.TaggedError<SmtpUrlInvalid>()("SmtpUrlInvalid", {
  reason: Schema.String
}) {}

const invalid = (reason: string) => Result.fail(new SmtpUrlInvalid({ reason }))

const decodePercent = (text: string): Result.Result<string, SmtpUrlInvalid> =>
  /%(?![0-9a-f]{2})/i.test(text)
    ? invalid("user or password has a % that is not an escape; write % as %25")
    : Result.try({
      try: () => decodeURIComponent(text),
      catch: () => new SmtpUrlInvalid({ reason: "user or password is not percent-encoded UTF-8" })
    })

const tlsModes = new Set(["required", "offered", "never"])

const tlsOf = (url: URL, host: string): Result.Result<RelayAddress["tls"], SmtpUrlInvalid> => {
  const asked = url.searchParams.get("tls")
  if (url.protocol === "smtps:") {
    return asked === null ? Result.succeed("implicit") : invalid("smtps:// takes no tls option")
  }
  if (asked === "required" || asked === "offered" || asked === "never") return Result.succeed(asked)
  if (asked !== null) return invalid(`tls must be one of ${[...tlsModes].join(", ")}`)
  // Without `required`, an attacker in the middle could remove STARTTLS from the EHLO reply and read the password.
  return Result.succeed(url.username !== "" && !isLoopbackHost(host) ? "required" : "offered")
}

const credentialsOf = (url: URL): Result.Result<RelayAddress["credentials"], SmtpUrlInvalid> =>
  url.username === "" && url.password === ""
    ? Result.succeed(undefined)
    : url.username === "" || url.password === ""
    ? invalid("user and password go together: smtp://user:password@host")
    : Result.gen(function*() {
      const user = yield* decodePercent(url.username)
      const password = yield* decodePercent(url.password)
      return { user, password: Redacted.make(password) }
    })

const options = new Set(["tls", "verify"])

/**
 * Parses `smtp://` (587) and `smtps://` (465) URLs. User and password are percent-encoded. `?tls=required|offered|never`
 * defaults to `required` when a password leaves the machine. `?verify=false` accepts a self-signed certificate.
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
    if (url.pathname !== "" && url.pathname !== "/") return yield* invalid("must not have a path")
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

const isFullHostName = (host: string) => host.includes(".") && !/^[\d.]+$/.test(host)

/** The name in EHLO: HELO_NAME or the machine's full host name. Undefined when only an address literal is left. */
export const greetingName = (configured: string | undefined, host: string = NodeOs.hostname()): string | undefined =>
  configured ?? (isFullHostName(host) ? host : undefined)

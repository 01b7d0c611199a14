import { Result } from "effect"

/** A carrier, and who binds to it. */
export interface SmppAddress {
  readonly host: string
  readonly port: number
  readonly tls: boolean
  readonly systemId: string
  readonly password: string
}

const decoded = (text: string) => Result.try(() => decodeURIComponent(text))

/** A C-octet string of ASCII: it must not end early. */
const isField = (text: string, longest: number) => text.length <= longest && !/[^\u0020-\u007e]/.test(text)

/** Reads `smpp(s)://system_id:password@host:port`; the failure never has the password. */
export const parseSmppUrl = (url: URL): Result.Result<SmppAddress, string> =>
  Result.gen(function*() {
    const tls = url.protocol === "smpps:"
    const systemId = yield* Result.mapError(decoded(url.username), () => "the system_id is not URL-encoded")
    const password = yield* Result.mapError(decoded(url.password), () => "the password is not URL-encoded")
    if (systemId === "" || !isField(systemId, 15)) {
      return yield* Result.fail("the system_id must have 1 to 15 characters of ASCII")
    }
    if (!isField(password, 64)) return yield* Result.fail("the password must have at most 64 characters of ASCII")
    if ((url.pathname !== "" && url.pathname !== "/") || url.search !== "" || url.hash !== "") {
      return yield* Result.fail("nothing may follow host and port")
    }
    return {
      host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: url.port === "" ? (tls ? 3550 : 2775) : Number(url.port),
      tls,
      systemId,
      password
    }
  })

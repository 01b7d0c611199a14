import { Effect, FileSystem, Redacted, Result } from "effect"
import { isLoopbackHost } from "../../values/publicAddress.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { WrongSetting } from "../config/Setting.ts"

/** How a connection is encrypted: with a verified certificate, or not at all. */
type Tls = "verified" | "none"

// The service sets application_name and connect_timeout itself.
const known: ReadonlySet<string> = new Set(["host", "port", "user", "password", "dbname", "options", "sslmode"])

/** `prefer` and `allow` would send the password in clear to a server without TLS. */
const modes: ReadonlyMap<string, Tls> = new Map([
  ["disable", "none"],
  ["require", "verified"],
  ["verify-ca", "verified"],
  ["verify-full", "verified"]
])

/** Whether the server is neither on this machine nor behind a socket. */
export const isRemote = ({ hostname, searchParams }: URL): boolean => {
  const host = searchParams.get("host") ?? hostname
  return !/^(?:\/|%2f)/i.test(host) && !isLoopbackHost(host)
}

/**
 * Reads how to encrypt connections to a URL: by default, connections to a remote server. A failure ends the sentence
 * "DATABASE_URL must be …" and never repeats the URL.
 */
export const tlsOf = (url: URL): Result.Result<Tls, string> => {
  const { searchParams } = url
  const unknown = [...searchParams.keys()].find((name) => !known.has(name))
  if (unknown !== undefined) {
    return Result.fail(
      `a URL with no other parameters than ${
        [...known].join(", ")
      } (${unknown} is unknown; a certificate of an authority goes into DATABASE_CA_FILE)`
    )
  }
  const mode = searchParams.get("sslmode")
  if (mode === null) return Result.succeed(isRemote(url) ? "verified" : "none")
  return Result.fromNullishOr(modes.get(mode), () => `a URL whose sslmode is ${[...modes.keys()].join(", ")}`)
}

/** The client decodes name and password, but only once it connects. */
const decodable = (url: URL): Result.Result<URL, string> =>
  Result.mapBoth(Result.try(() => decodeURIComponent(`${url.username}${url.password}`)), {
    onSuccess: () => url,
    onFailure: () => "a URL whose user name and password are percent-encoded: write % as %25, and @ as %40"
  })

const masked = "********"

/** The URL and the TLS options of its connections. Fails with `WrongSetting`. */
export const databaseConnection = Effect.fnUntraced(function*(url: Redacted.Redacted<URL>) {
  const { databaseCaFile } = yield* AppConfig
  const tls = yield* Effect.mapError(
    Effect.fromResult(Result.flatMap(decodable(Redacted.value(url)), tlsOf)),
    (expects) => new WrongSetting({ name: "DATABASE_URL", expects, value: masked })
  )
  const text = Redacted.make(Redacted.value(url).href)
  if (databaseCaFile === undefined) return { url: text, ssl: tls === "verified" }
  const fs = yield* FileSystem.FileSystem
  const ca = yield* fs.readFileString(databaseCaFile).pipe(
    Effect.mapError(({ reason }) =>
      new WrongSetting({
        name: "DATABASE_CA_FILE",
        expects: `a file that this account can read (${reason._tag})`,
        value: databaseCaFile
      })
    )
  )
  // An authority means TLS on a loopback address, too.
  const isDisabled = Redacted.value(url).searchParams.get("sslmode") === "disable"
  return { url: text, ssl: isDisabled ? false : { ca } }
})

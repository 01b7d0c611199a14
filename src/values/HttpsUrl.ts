import { Result, Schema, SchemaTransformation } from "effect"
import { isPublicAddress } from "./publicAddress.ts"

const maxLength = 2048

/** Names and addresses of this machine, which development may call by plain http. */
export const loopbackHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "::1"])

/**
 * Ports from 1024 on where another protocol usually listens. A signed POST has no use there, and some services execute
 * commands found in unknown lines. Below 1024 only 80 and 443 are allowed, which excludes mail (25, 110, 143, 465, 587,
 * 993, 995), SSH (22) and telnet (23).
 */
const refusedPorts: ReadonlyMap<number, string> = new Map([
  [1433, "SQL Server"],
  [1521, "Oracle"],
  [2049, "NFS"],
  [2181, "ZooKeeper"],
  [2375, "Docker"],
  [2376, "Docker"],
  [2379, "etcd"],
  [2380, "etcd"],
  [2525, "mail"],
  [3306, "MySQL"],
  [3389, "remote desktop"],
  [4369, "Erlang"],
  [5060, "SIP"],
  [5061, "SIP"],
  [5432, "PostgreSQL"],
  [5672, "AMQP"],
  [5900, "VNC"],
  [5984, "CouchDB"],
  [6000, "X11"],
  [6379, "Redis"],
  [6667, "IRC"],
  [6697, "IRC"],
  [9042, "Cassandra"],
  [9092, "Kafka"],
  [9200, "Elasticsearch"],
  [9300, "Elasticsearch"],
  [10250, "the kubelet"],
  [11211, "memcached"],
  [27017, "MongoDB"],
  [27018, "MongoDB"],
  [27019, "MongoDB"]
])

export interface HttpsUrlOptions {
  /**
   * For development: allows `http` and loopback for localhost, 127.0.0.1 and ::1. All other URLs must be https and
   * public.
   */
  readonly allowLoopback: boolean
  /** The example in a refusal; a webhook's URL by default. */
  readonly example?: string
}

/** Why a URL is refused: its host is not public, or it is otherwise invalid. */
export interface UrlRefusal {
  readonly kind: "blocked_address" | "invalid"
  /** One sentence for the author of the URL. */
  readonly message: string
}

const invalid = (message: string): UrlRefusal => ({ kind: "invalid", message })
const blocked = (what: string): UrlRefusal => ({ kind: "blocked_address", message: `${what}: use a public host` })

const problemOfPort = (url: URL): UrlRefusal | undefined => {
  if (url.port === "" || url.port === "80" || url.port === "443") return undefined
  const port = Number(url.port)
  if (port < 1024) return invalid(`port ${port} is not allowed: use 443, 80 or a port from 1024 on`)
  const owner = refusedPorts.get(port)
  return owner === undefined ? undefined : invalid(`port ${port} is not allowed: it belongs to ${owner}`)
}

const tooLong = invalid(`must have at most ${maxLength} characters`)

const isAddress = (host: string): boolean => host.includes(":") || /^\d+(\.\d+){3}$/.test(host)

const problemOfHost = (host: string): UrlRefusal | undefined => {
  if (host.endsWith(".") || host.includes("..")) return invalid(`"${host}" is not a host name`)
  if (host === "localhost" || host.endsWith(".localhost")) {
    return blocked(`"${host}" is this machine`)
  }
  return isAddress(host) && !isPublicAddress(host) ? blocked(`the address ${host} is not public`) : undefined
}

const problemOf = (url: URL, options: HttpsUrlOptions): UrlRefusal | undefined => {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1")
  const loopback = options.allowLoopback && loopbackHosts.has(host)
  if (url.protocol !== "https:" && !loopback) return invalid("must start with https://")
  if (url.username !== "" || url.password !== "") return invalid("must not contain a user name or password")
  if (url.href.includes("#")) return invalid("must not contain a fragment (#)")
  if (url.href.length > maxLength) return tooLong
  return problemOfPort(url) ?? (loopback ? undefined : problemOfHost(host))
}

/**
 * The URL in WHATWG normal form without a final dot (host in lower case and punycode, IPv4 addresses as four decimal
 * numbers), or its fault.
 */
export const parseHttpsUrl = (text: string, options: HttpsUrlOptions): Result.Result<string, UrlRefusal> => {
  if (text.length > maxLength) return Result.fail(tooLong)
  // WHATWG silently removes some of them, so the called URL would differ from the written one.
  // oxlint-disable-next-line no-control-regex -- the pattern finds control characters
  if (/[\u0000-\u001f\u007f]/.test(text)) return Result.fail(invalid("must not contain control characters"))
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null
  if (url === null) {
    const { example = "https://example.com/webhooks" } = options
    return Result.fail(invalid(`must be a URL that starts with https://, such as ${example}`))
  }
  if (url.hostname.endsWith(".")) url.hostname = url.hostname.slice(0, -1)
  const problem = problemOf(url, options)
  return problem === undefined ? Result.succeed(url.href) : Result.fail(problem)
}

const Normalised = Schema.String.pipe(Schema.brand("HttpsUrl"))
export type HttpsUrl = typeof Normalised.Type

/**
 * A URL that the service may call for a user: https and a public host, at most 2,048 characters. It refuses addresses
 * in the URL. The connection must check the addresses that a name resolves to, each time.
 */
export const HttpsUrl = (options: HttpsUrlOptions) =>
  Schema.String.check(
    Schema.makeFilter((text: string) =>
      Result.match(parseHttpsUrl(text, options), { onSuccess: () => undefined, onFailure: ({ message }) => message })
    )
  ).pipe(
    Schema.decodeTo(
      Normalised,
      SchemaTransformation.transform({
        decode: (text: string) => Result.getOrElse(parseHttpsUrl(text, options), () => text),
        encode: (url: string) => url
      })
    )
  )

/** Origin and path only: customers put secrets into the query, and more people read a mail or a list than a row. */
export const shownUrl = (url: string): string => {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

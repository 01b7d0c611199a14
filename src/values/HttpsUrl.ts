import { Result, Schema, SchemaTransformation } from "effect"
import { isPublicAddress } from "./publicAddress.ts"

const maxLength = 2048

/** Names and addresses of this machine that development may use, over plain http as well. */
export const loopbackHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "::1"])

/**
 * Ports from 1024 on where another protocol usually listens: a signed POST has no business there, and some of them
 * run commands found in lines they do not understand. Of the ports below 1024 only 80 and 443 are open at all, so mail
 * (25, 110, 143, 465, 587, 993, 995), SSH (22) and telnet (23) are refused without being named.
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
  /** Development: `http` and loopback for the names localhost, 127.0.0.1 and ::1; all else stays https and public. */
  readonly allowLoopback: boolean
  /** What a refusal shows; a webhook's unless it is another's. */
  readonly example?: string
}

/** Why a URL is not taken: it leads to a place that is not public, or it is wrong in another way. */
export interface UrlRefusal {
  readonly kind: "blocked_address" | "invalid"
  /** One sentence for whoever wrote the URL. */
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
 * The URL in its normal form (WHATWG: host in lower case and punycode, every spelling of an IPv4 address as four
 * decimal numbers; and no dot at the end of the host), or what is wrong with it.
 */
export const parseHttpsUrl = (text: string, options: HttpsUrlOptions): Result.Result<string, UrlRefusal> => {
  if (text.length > maxLength) return Result.fail(tooLong)
  // WHATWG takes some of them out without a word, and then what is called is not what was written.
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
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
 * A URL that the service may call for somebody else: https and a public host, at most 2,048 characters. It refuses
 * addresses written in the URL; what a name resolves to is for the connection to check, each time anew.
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

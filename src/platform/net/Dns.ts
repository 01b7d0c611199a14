import { Context, Effect, Layer, Schema } from "effect"
import * as NodeDns from "node:dns"
import { AppConfig } from "../config/AppConfig.ts"

/** No name server gave a reliable answer, so the published records are unknown. */
export class DnsUnanswered extends Schema.TaggedError<DnsUnanswered>()("DnsUnanswered", {
  name: Schema.String,
  /** A code of c-ares: ESERVFAIL, EREFUSED, ETIMEOUT, … */
  code: Schema.String
}) {
  override get message() {
    return `The name servers gave no answer for ${this.name} (${this.code})`
  }
}

/** A mail exchanger; `exchange` is in lower case, without the final dot, and empty in a null MX (RFC 7505). */
export interface MailExchanger {
  readonly exchange: string
  readonly priority: number
}

/** The name does not exist, has no such record, or is invalid: each is a reliable answer without records. */
const noRecords = new Set(["ENOTFOUND", "ENODATA", "EBADNAME"])

/** Bounds one query with all its retries, over all servers. */
const lookupTimeout = "5 seconds"

type Done<A> = (error: NodeJS.ErrnoException | null, values: ReadonlyArray<A>) => void

/** Each query has its own resolver: a resolver can only cancel all of its queries, and it would cache answers. */
const makeQuery = (servers: ReadonlyArray<string> | undefined) => {
  const query = <A>(name: string, start: (resolver: NodeDns.Resolver, done: Done<A>) => void) =>
    Effect.callback<ReadonlyArray<A>, DnsUnanswered>((resume) => {
      const resolver = new NodeDns.Resolver({ timeout: 2000, tries: 2 })
      if (servers !== undefined) resolver.setServers(servers)
      start(resolver, (error, values) => {
        if (error === null) return resume(Effect.succeed(values))
        const code = error.code ?? "UNKNOWN"
        return resume(noRecords.has(code) ? Effect.succeed([]) : Effect.fail(new DnsUnanswered({ name, code })))
      })
      return Effect.sync(() => resolver.cancel())
    }).pipe(
      Effect.timeoutOrElse({
        duration: lookupTimeout,
        orElse: () => Effect.fail(new DnsUnanswered({ name, code: "ETIMEOUT" }))
      })
    )
  return query
}

const withoutDot = (name: string) => name.toLowerCase().replace(/\.$/, "")

/** Looks up DNS records. It follows CNAMEs; answers too long for UDP arrive over TCP. */
export class Dns extends Context.Service<Dns, {
  /** The TXT records of a name, each with its strings joined; empty if it has none. */
  readonly txt: (name: string) => Effect.Effect<ReadonlyArray<string>, DnsUnanswered>
  readonly mx: (name: string) => Effect.Effect<ReadonlyArray<MailExchanger>, DnsUnanswered>
  /** Whether the name has an IPv4 or IPv6 address. */
  readonly hasAddress: (name: string) => Effect.Effect<boolean, DnsUnanswered>
}>()("messaging-service/platform/net/Dns") {
  /** Asks these name servers (`address:port`), or the system's. */
  static readonly layerOf = (servers: ReadonlyArray<string> | undefined) =>
    Layer.sync(Dns, () => {
      const query = makeQuery(servers)
      return Dns.of({
        txt: (name) =>
          Effect.map(
            query<ReadonlyArray<string>>(name, (resolver, done) => resolver.resolveTxt(name, done)),
            (records) => records.map((strings) => strings.join(""))
          ),
        mx: (name) =>
          Effect.map(
            query<NodeDns.MxRecord>(name, (resolver, done) => resolver.resolveMx(name, done)),
            (records) => records.map(({ exchange, priority }) => ({ exchange: withoutDot(exchange), priority }))
          ),
        hasAddress: Effect.fnUntraced(function*(name) {
          const v4 = yield* query<string>(name, (resolver, done) => resolver.resolve4(name, done))
          if (v4.length > 0) return true
          return (yield* query<string>(name, (resolver, done) => resolver.resolve6(name, done))).length > 0
        })
      })
    })

  /** Asks the name servers of DNS_SERVERS. */
  static readonly layer = Layer.unwrap(Effect.map(AppConfig, ({ dnsServers }) => Dns.layerOf(dnsServers)))
}

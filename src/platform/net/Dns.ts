import { Context, Effect, Layer, Schema } from "effect"
import * as NodeDns from "node:dns"
import { AppConfig } from "../config/AppConfig.ts"

/** No name server gave an answer that can be relied on, so nothing is known about what is published. */
export class DnsUnanswered extends Schema.TaggedError<DnsUnanswered>()("DnsUnanswered", {
  name: Schema.String,
  /** Of c-ares: ESERVFAIL, EREFUSED, ETIMEOUT, … */
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

/** The name does not exist, has nothing of that type, or can be no name: answers, all of them. */
const nothing = new Set(["ENOTFOUND", "ENODATA", "EBADNAME"])

/** One query may take this long with all its repetitions, over all servers. */
const patience = "5 seconds"

type Done<A> = (error: NodeJS.ErrnoException | null, values: ReadonlyArray<A>) => void

/** A resolver for each query, as it can only cancel all of its queries at once, and so that no answer is kept. */
const asking = (servers: ReadonlyArray<string> | undefined) => {
  const ask = <A>(name: string, query: (resolver: NodeDns.Resolver, done: Done<A>) => void) =>
    Effect.callback<ReadonlyArray<A>, DnsUnanswered>((resume) => {
      const resolver = new NodeDns.Resolver({ timeout: 2000, tries: 2 })
      if (servers !== undefined) resolver.setServers(servers)
      query(resolver, (error, values) => {
        if (error === null) return resume(Effect.succeed(values))
        const code = error.code ?? "UNKNOWN"
        return resume(nothing.has(code) ? Effect.succeed([]) : Effect.fail(new DnsUnanswered({ name, code })))
      })
      return Effect.sync(() => resolver.cancel())
    }).pipe(
      Effect.timeoutOrElse({
        duration: patience,
        orElse: () => Effect.fail(new DnsUnanswered({ name, code: "ETIMEOUT" }))
      })
    )
  return ask
}

const withoutDot = (name: string) => name.toLowerCase().replace(/\.$/, "")

/** Looks up what domains publish. CNAMEs are followed; answers that are too long for UDP come over TCP. */
export class Dns extends Context.Service<Dns, {
  /** The texts at a name, each joined of its strings; none when there are none. */
  readonly txt: (name: string) => Effect.Effect<ReadonlyArray<string>, DnsUnanswered>
  readonly mx: (name: string) => Effect.Effect<ReadonlyArray<MailExchanger>, DnsUnanswered>
  /** Whether the name leads to an IPv4 or IPv6 address. */
  readonly hasAddress: (name: string) => Effect.Effect<boolean, DnsUnanswered>
}>()("messaging-service/platform/net/Dns") {
  /** By these name servers (`address:port`), or by the system's. */
  static readonly layerOf = (servers: ReadonlyArray<string> | undefined) =>
    Layer.sync(Dns, () => {
      const ask = asking(servers)
      return Dns.of({
        txt: (name) =>
          Effect.map(
            ask<ReadonlyArray<string>>(name, (resolver, done) => resolver.resolveTxt(name, done)),
            (records) => records.map((strings) => strings.join(""))
          ),
        mx: (name) =>
          Effect.map(
            ask<NodeDns.MxRecord>(name, (resolver, done) => resolver.resolveMx(name, done)),
            (records) => records.map(({ exchange, priority }) => ({ exchange: withoutDot(exchange), priority }))
          ),
        hasAddress: Effect.fnUntraced(function*(name) {
          const v4 = yield* ask<string>(name, (resolver, done) => resolver.resolve4(name, done))
          if (v4.length > 0) return true
          return (yield* ask<string>(name, (resolver, done) => resolver.resolve6(name, done))).length > 0
        })
      })
    })

  /** By the setting DNS_SERVERS. */
  static readonly layer = Layer.unwrap(Effect.map(AppConfig, ({ dnsServers }) => Dns.layerOf(dnsServers)))
}

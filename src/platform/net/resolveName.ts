import * as NodeDns from "node:dns"
import type * as NodeNet from "node:net"

type Found = { readonly addresses: ReadonlyArray<NodeDns.LookupAddress>; readonly error: NodeJS.ErrnoException | null }

/** How long one address family waits for the other (RFC 8305 3): some name servers never answer AAAA queries. */
const otherFamilyMillis = 250

/**
 * Resolves names in DNS alone, IPv4 and IPv6 at once. Unlike `dns.lookup` it uses no thread of libuv's pool, in which two
 * names with dead name servers would delay all others. It does not read `/etc/hosts` or search domains.
 */
export const resolveName = (servers?: ReadonlyArray<string>): NodeNet.LookupFunction => {
  const resolver = new NodeDns.Resolver({ timeout: 2000, tries: 2 })
  if (servers !== undefined && servers.length > 0) resolver.setServers(servers)
  return (hostname, _options, callback) => {
    const found: Array<Found> = []
    let timer: NodeJS.Timeout | undefined
    let done = false
    const finish = () => {
      if (done) return
      done = true
      clearTimeout(timer)
      const addresses = found.flatMap((it) => it.addresses).sort((a, b) => a.family - b.family)
      const error = found.find((it) => it.error !== null)?.error ?? null
      if (addresses.length > 0) callback(null, addresses)
      else callback(error, [])
    }
    const collect = (family: 4 | 6) => (error: NodeJS.ErrnoException | null, addresses: ReadonlyArray<string> = []) => {
      found.push({ error, addresses: error === null ? addresses.map((address) => ({ address, family })) : [] })
      if (found.length === 2) finish()
      else if (addresses.length > 0) timer = setTimeout(finish, otherFamilyMillis)
    }
    resolver.resolve4(hostname, collect(4))
    resolver.resolve6(hostname, collect(6))
  }
}

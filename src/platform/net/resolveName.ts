import * as NodeDns from "node:dns"
import type * as NodeNet from "node:net"

type Answer = NodeDns.LookupAddress
type Found = { readonly answers: ReadonlyArray<Answer>; readonly error: NodeJS.ErrnoException | null }

/** How long one family may keep the other waiting (RFC 8305, section 3): some name servers never answer for AAAA. */
const otherFamilyMillis = 250

/**
 * Looks names up in DNS alone, IPv4 and IPv6 at once. Unlike `dns.lookup` it needs no thread of the pool, where two
 * names with dead name servers would hold up every other name; so `/etc/hosts` and search domains are not read.
 */
export const resolveName = (servers?: ReadonlyArray<string>): NodeNet.LookupFunction => {
  const resolver = new NodeDns.Resolver({ timeout: 2000, tries: 2 })
  if (servers !== undefined && servers.length > 0) resolver.setServers(servers)
  return (hostname, _options, callback) => {
    const found: Array<Found> = []
    let timer: NodeJS.Timeout | undefined
    let answered = false
    const answer = () => {
      if (answered) return
      answered = true
      clearTimeout(timer)
      const answers = found.flatMap((it) => it.answers).sort((a, b) => a.family - b.family)
      const error = found.find((it) => it.error !== null)?.error ?? null
      if (answers.length > 0) callback(null, answers)
      else callback(error, [])
    }
    const take = (family: 4 | 6) => (error: NodeJS.ErrnoException | null, addresses: ReadonlyArray<string> = []) => {
      found.push({ error, answers: error === null ? addresses.map((address) => ({ address, family })) : [] })
      if (found.length === 2) answer()
      else if (addresses.length > 0) timer = setTimeout(answer, otherFamilyMillis)
    }
    resolver.resolve4(hostname, take(4))
    resolver.resolve6(hostname, take(6))
  }
}

/** Whether a host is this machine's own: `localhost` and names below it, `127.0.0.0/8` and `::1`, also in brackets. */
export const isLoopbackHost = (host: string): boolean =>
  /^(?:(?:[a-z\d-]+\.)*localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|\[::1\])$/i.test(host)

/** Ranges outside the public internet, by first address and prefix length (IANA special-purpose registry). */
const blocked4: ReadonlyArray<readonly [first: string, prefix: number]> = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4]
]

const decimal = /^(0|[1-9]\d{0,2})$/

/** The address as a 32-bit number; undefined unless it is four plain decimal numbers. */
const ipv4 = (text: string): number | undefined => {
  const parts = text.split(".")
  if (parts.length !== 4 || !parts.every((part) => decimal.test(part) && Number(part) <= 255)) return undefined
  return parts.reduce((sum, part) => sum * 256 + Number(part), 0)
}

const ranges4 = blocked4.map(([first, prefix]) => ({ first: ipv4(first) ?? 0, size: 2 ** (32 - prefix) }))

const isPublic4 = (address: number): boolean =>
  !ranges4.some(({ first, size }) => address >= first && address < first + size)

const group = /^[0-9a-f]{1,4}$/i

/**
 * Only global unicast, 2000::/3, without documentation and tunnel ranges. This excludes mapped and compatible IPv4,
 * NAT64, unique local, link-local, loopback and unassigned ranges. The first 32 bits decide, and the text form of
 * 2000::/3 always begins with them.
 */
const isPublic6 = (text: string): boolean => {
  const [first = "", second = ""] = text.split(":")
  if (!group.test(first) || (second !== "" && !group.test(second))) return false
  const [high, low] = [Number.parseInt(first, 16), Number.parseInt(second === "" ? "0" : second, 16)]
  if (high < 0x2000 || high > 0x3fff) return false
  if (high === 0x2001) return low >= 0x0200 && low !== 0x0db8 // 2001::/23 (Teredo and others), documentation
  return high !== 0x2002 && !(high === 0x3fff && low < 0x1000) // 6to4, documentation
}

/**
 * Whether the service may call the address for a user. False for addresses outside the public internet and for texts in
 * any other spelling. An IPv6 text must be valid and have no zone.
 */
export const isPublicAddress = (ip: string): boolean => {
  if (ip.includes(":")) return !ip.includes("%") && isPublic6(ip)
  const address = ipv4(ip)
  return address !== undefined && isPublic4(address)
}

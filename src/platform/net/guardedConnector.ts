import * as NodeNet from "node:net"
import { buildConnector } from "undici"
import { loopbackHosts } from "../../values/HttpsUrl.ts"
import { BlockedAddressError, ConnectTimeoutError, NameError } from "./transportErrors.ts"

export interface GuardOptions {
  /** Whether an address may be connected to, on behalf of anybody. */
  readonly isAllowed: (address: string) => boolean
  /** Development: loopback, for the names localhost, 127.0.0.1 and ::1 only. */
  readonly allowLoopback: boolean
  readonly lookup: NodeNet.LookupFunction
  /** Ends connections that nobody waits for any more. */
  readonly connectTimeoutMillis: number
  /** Certificates (PEM) to trust beside those of the system. */
  readonly ca?: string | undefined
}

const loopbackAddresses: ReadonlyArray<string> = ["127.0.0.1", "::1"]

/** More addresses than these would not be tried within the time of a request. */
const maxAddresses = 8

const familyOf = (address: string): 4 | 6 => NodeNet.isIPv6(address) ? 6 : 4

/**
 * Gate 2: one look-up, refused as a whole if ANY answer is not allowed, and the very answers that were checked are
 * connected to: there is no second look-up that could tell otherwise (DNS rebinding). The refusal does not repeat the
 * address, which would let strangers read a private name space.
 */
const guardedLookup = (options: GuardOptions): NodeNet.LookupFunction => (hostname, lookupOptions, callback) => {
  const give = (addresses: ReadonlyArray<{ readonly address: string; readonly family: number }>) => {
    const [first] = addresses
    if (first === undefined) callback(new NameError(`${hostname} has no address`), [])
    else if (lookupOptions.all === true) callback(null, addresses.slice(0, maxAddresses))
    else callback(null, first.address, first.family)
  }
  if (hostname === "localhost") {
    return options.allowLoopback
      ? give(loopbackAddresses.map((address) => ({ address, family: familyOf(address) })))
      : callback(new BlockedAddressError("localhost is not public"), [])
  }
  options.lookup(hostname, { all: true }, (error, found) => {
    if (error !== null) {
      return callback(new NameError(`${hostname} could not be resolved: ${error.code ?? error.message}`), [])
    }
    const addresses = typeof found === "string" ? [{ address: found, family: familyOf(found) }] : found
    return addresses.every(({ address }) => options.isAllowed(address))
      ? give(addresses)
      : callback(new BlockedAddressError(`${hostname} resolves to an address that is not public`), [])
  })
}

const openTcp = (target: buildConnector.Options, options: GuardOptions, lookup: NodeNet.LookupFunction) => {
  const { hostname, port, protocol } = target
  const socket = NodeNet.connect({
    host: hostname,
    port: port === "" ? protocol === "https:" ? 443 : 80 : Number(port),
    lookup,
    autoSelectFamily: true,
    noDelay: true,
    keepAlive: true,
    timeout: options.connectTimeoutMillis
  })
  socket.on("error", () => {}) // a late error of a socket that was given up must not end the process
  socket.once("timeout", () => socket.destroy(new ConnectTimeoutError(`${hostname} did not connect in time`)))
  return socket
}

/**
 * A connector that reaches public addresses only. Gate 1 checks an address written in the URL, because `net.connect`
 * asks no look-up for it; gate 2 checks what a name resolves to; gate 3 checks whom the socket is connected to, before
 * the first byte (of TLS as well) is sent. A kept connection needs no new check: its peer cannot change.
 * Behind a forward proxy the gates would see the proxy: none is used, whatever the environment says.
 */
export const guardedConnector = (options: GuardOptions): buildConnector.connector => {
  const lookup = guardedLookup(options)
  const startTls = buildConnector({
    allowH2: false,
    timeout: options.connectTimeoutMillis,
    ...(options.ca !== undefined && { ca: options.ca })
  })
  const isAllowed = (host: string, address: string) =>
    options.isAllowed(address)
    || (options.allowLoopback && loopbackHosts.has(host) && loopbackAddresses.includes(address))

  return (target, callback) => {
    const { hostname, protocol } = target
    if (NodeNet.isIP(hostname) !== 0 && !isAllowed(hostname, hostname)) {
      return queueMicrotask(() => callback(new BlockedAddressError(`the address ${hostname} is not public`), null))
    }
    const socket = openTcp(target, options, lookup)
    const failed = (error: Error) => callback(error, null)
    socket.once("error", failed)
    socket.once("connect", () => {
      if (!isAllowed(hostname, socket.remoteAddress ?? "")) {
        return socket.destroy(new BlockedAddressError(`${hostname} is connected to an address that is not public`))
      }
      socket.setTimeout(0).removeAllListeners("timeout").off("error", failed)
      return protocol === "https:" ? startTls({ ...target, httpSocket: socket }, callback) : callback(null, socket)
    })
  }
}

import * as NodeNet from "node:net"
import type { buildConnector } from "undici"
import { loopbackHosts } from "../../values/HttpsUrl.ts"
import { BlockedAddressError, ConnectTimeoutError, NameError } from "./transportFailure.ts"
import { undici } from "./undici.ts"

/** Options of the guard. */
export interface GuardOptions {
  /** Whether any user may connect to an address. */
  readonly isAllowed: (address: string) => boolean
  /** Development: loopback, for the names localhost, 127.0.0.1 and ::1 only. */
  readonly allowLoopback: boolean
  readonly lookup: NodeNet.LookupFunction
  /** Ends attempts to connect that outlast their request. */
  readonly connectTimeoutMillis: number
  /** Certificates (PEM) to trust in addition to the system's. */
  readonly ca?: string | undefined
}

const loopbackAddresses: ReadonlyArray<string> = ["127.0.0.1", "::1"]

/** More addresses could not be tried within the time of a request. */
const maxAddresses = 8

/**
 * Milliseconds that a connection may take before Node abandons it and tries the next address of the host. Node's default of 250
 * is too short for a host on another continent and for a busy node. If this machine cannot reach the next address, such as
 * one of IPv6, the host would never be reached.
 */
export const attemptTimeoutMillis = 1_000

const familyOf = (address: string): 4 | 6 => NodeNet.isIPv6(address) ? 6 : 4

/**
 * Gate 2: one look-up, refused as a whole if ANY address is not allowed. The socket connects to the addresses that were
 * checked, so a second look-up cannot return others (DNS rebinding). The refusal does not repeat the address, which would
 * let users read a private name space.
 */
const guardedLookup = (options: GuardOptions): NodeNet.LookupFunction => (hostname, lookupOptions, callback) => {
  const respond = (addresses: ReadonlyArray<{ readonly address: string; readonly family: number }>) => {
    const [first] = addresses
    if (first === undefined) callback(new NameError(`${hostname} has no address`), [])
    else if (lookupOptions.all === true) callback(null, addresses.slice(0, maxAddresses))
    else callback(null, first.address, first.family)
  }
  if (hostname === "localhost") {
    return options.allowLoopback
      ? respond(loopbackAddresses.map((address) => ({ address, family: familyOf(address) })))
      : callback(new BlockedAddressError("localhost is not public"), [])
  }
  options.lookup(hostname, { all: true }, (error, found) => {
    if (error !== null) {
      return callback(new NameError(`${hostname} could not be resolved: ${error.code ?? error.message}`), [])
    }
    const addresses = typeof found === "string" ? [{ address: found, family: familyOf(found) }] : found
    return addresses.every(({ address }) => options.isAllowed(address))
      ? respond(addresses)
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
    autoSelectFamilyAttemptTimeout: attemptTimeoutMillis,
    noDelay: true,
    keepAlive: true,
    timeout: options.connectTimeoutMillis
  })
  socket.on("error", () => {}) // a late error of an abandoned socket must not end the process
  socket.once("timeout", () => socket.destroy(new ConnectTimeoutError(`${hostname} did not connect in time`)))
  return socket
}

/**
 * A connector that reaches public addresses only. Gate 1 checks an address in the URL, for which `net.connect` does no
 * look-up. Gate 2 checks the addresses of a name. Gate 3 checks the connected peer before the first byte, also of TLS, is
 * sent. A kept connection needs no new check: its peer cannot change. A forward proxy would hide the peer from the gates,
 * so the connector ignores proxy settings of the environment.
 */
export const guardedConnector = (options: GuardOptions): buildConnector.connector => {
  const lookup = guardedLookup(options)
  const startTls = undici().buildConnector({
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
      // A connection that its peer has reset by now has no address any more.
      if (socket.remoteAddress === undefined) return socket.destroy(new Error(`${hostname} reset the connection`))
      if (!isAllowed(hostname, socket.remoteAddress)) {
        return socket.destroy(new BlockedAddressError(`${hostname} is connected to an address that is not public`))
      }
      socket.setTimeout(0).removeAllListeners("timeout").off("error", failed)
      return protocol === "https:" ? startTls({ ...target, httpSocket: socket }, callback) : callback(null, socket)
    })
  }
}

import { Option } from "effect"
import type { HttpServerRequest } from "effect/http"

const loopback = /^(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$|^::1$/
const localName = /^(?:(?:[a-z0-9-]+\.)*localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(?::\d+)?$/i

/** Names that belong to no public domain: an address, and a name without a dot such as that of a container. */
const privateName = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\]|[a-z\d][a-z\d-]*)(?::\d+)?$/i

const forwarding = ["x-forwarded-for", "forwarded", "x-real-ip"]

/** Whether a proxy says that it passes on the request of another client. */
export const isForwarded = (headers: HttpServerRequest.HttpServerRequest["headers"]): boolean =>
  forwarding.some((name) => headers[name] !== undefined)

/** Whether a `Host` names this server. A foreign page can point a public name at any address, but none of these. */
export const isOwnName = (host: string, publicHost: string): boolean =>
  localName.test(host) || privateName.test(host) ||
  (publicHost !== "" && host.replace(/:\d+$/, "").toLowerCase() === publicHost.toLowerCase())

/**
 * Whether a request comes from a program on this machine. A loopback peer is not enough. A proxy on this machine passes
 * on other clients; it adds a forwarding header. A foreign page can rebind its host name to 127.0.0.1; the browser
 * still sends that name as `Host`.
 */
export const isLocalRequest = (
  request: Pick<HttpServerRequest.HttpServerRequest, "remoteAddress" | "peerAddress" | "headers">
): boolean =>
  Option.exists(request.remoteAddress, (address) => loopback.test(address)) &&
  Option.exists(request.peerAddress, (address) => loopback.test(address)) &&
  localName.test(request.headers["host"] ?? "") &&
  !isForwarded(request.headers)

const hostOf = (origin: string) => URL.parse(origin)?.host

/**
 * Whether a page of this server sent the form, or a program that is not a browser. Browsers name the origin of a POST,
 * and a foreign page cannot change or remove it. Call {@link isLocalRequest} first: it rejects foreign names of this
 * machine.
 */
export const isOwnForm = ({ headers }: Pick<HttpServerRequest.HttpServerRequest, "headers">): boolean =>
  (headers["origin"] === undefined || hostOf(headers["origin"]) === headers["host"]) &&
  ["none", "same-origin", undefined].includes(headers["sec-fetch-site"])

import { Option } from "effect"
import type { HttpServerRequest } from "effect/http"

const loopback = /^(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$|^::1$/
const localName = /^(?:(?:[a-z0-9-]+\.)*localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(?::\d+)?$/i

const forwarding = ["x-forwarded-for", "forwarded", "x-real-ip"]

/**
 * Whether a request comes from a program on this machine. A loopback peer alone does not say so: it may be a proxy that
 * passes strangers on (it adds a forwarding header), or a browser whose page rebound its own name to 127.0.0.1 (its
 * Host is not a name of this machine).
 */
export const isLocalRequest = (
  request: Pick<HttpServerRequest.HttpServerRequest, "remoteAddress" | "peerAddress" | "headers">
): boolean =>
  Option.exists(request.remoteAddress, (address) => loopback.test(address)) &&
  Option.exists(request.peerAddress, (address) => loopback.test(address)) &&
  localName.test(request.headers["host"] ?? "") &&
  !forwarding.some((name) => request.headers[name] !== undefined)

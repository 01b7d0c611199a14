import type { HttpServerRequest } from "effect/http"

const hostOf = (origin: string) => URL.parse(origin)?.host

/**
 * Whether a form was sent by a page of this server, or by a program that is no browser. Browsers say where a POST comes
 * from, and nothing that a foreign page does makes them say something else or nothing. Asked only after
 * `isLocalRequest`, which knows a foreign name of this machine.
 */
export const isOwnForm = ({ headers }: Pick<HttpServerRequest.HttpServerRequest, "headers">): boolean =>
  (headers["origin"] === undefined || hostOf(headers["origin"]) === headers["host"]) &&
  ["none", "same-origin", undefined].includes(headers["sec-fetch-site"])

import { Agent } from "undici"

/** Connections to one origin: as many as a webhook has attempts in flight. */
export const perOrigin = 8

/** The cheapest POST of undici. Returns the status and drops the body. */
export const makePost = () => {
  const agent = new Agent({ connections: perOrigin, pipelining: 1 })
  return (origin: string, request: { readonly body: Uint8Array; readonly headers: Record<string, string> }) =>
    new Promise<number>((resolve, reject) => {
      let status = 0
      agent.dispatch({ origin, path: "/hook", method: "POST", ...request }, {
        onRequestStart: () => {},
        onResponseStart: (_, code) => {
          status = code
        },
        onResponseData: () => {},
        onResponseEnd: () => resolve(status),
        onResponseError: (_, error) => reject(error)
      })
    })
}

import { Agent } from "undici"

/** Connections to one origin: as many as a webhook has requests under way. */
export const perOrigin = 8

/** The cheapest POST that undici has: its status, the body of the answer dropped. */
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

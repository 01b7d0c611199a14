import { MessagingClient } from "../../src/sdk/MessagingClient.ts"
import type { ClientOptions } from "../../src/sdk/MessagingClient.ts"

/** A request as the client's `fetch` got it. */
export interface SentRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  readonly body: string | null
  readonly at: number
}

/** An answer for a request, or a failure of the connection. */
export type Answering = (request: SentRequest, index: number) => Response | Error | Promise<Response>

/** An answer in JSON. */
export const answer = (status: number, body: unknown, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } })

/** An error body as the service writes it. */
export const refusal = (
  status: number,
  error: Record<string, unknown>,
  headers: Record<string, string> = {}
): Response =>
  answer(status, {
    success: false,
    error: { code: 1, message: "Refused.", doc_url: `/docs/guides/errors#${String(error["type"])}`, ...error },
    meta: {}
  }, { "x-request-id": "0190f0c0-0000-7000-8000-000000000000", ...headers })

/** A client whose requests are recorded and answered by the function. */
export const recordingClient = (answering: Answering, options: ClientOptions = {}) => {
  const sent: Array<SentRequest> = []
  const client = new MessagingClient({
    apiKey: "sk_live_test",
    baseUrl: "https://messages.example/base/",
    ...options,
    fetch: async (input, init) => {
      const request = {
        method: init?.method ?? "GET",
        url: new URL(String(input)),
        headers: new Headers(init?.headers),
        body: typeof init?.body === "string" ? init.body : null,
        at: performance.now()
      }
      sent.push(request)
      const result = await Promise.race([
        answering(request, sent.length - 1),
        new Promise<never>((_, reject) => {
          init?.signal?.addEventListener("abort", () => reject(init.signal?.reason))
        })
      ])
      if (result instanceof Error) throw result
      return result
    }
  })
  return { client, sent }
}

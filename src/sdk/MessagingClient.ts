import { bindOperations } from "./core/bindOperations.ts"
import { type Call, type RequestOptions, type ResponseFacts, Transport } from "./core/Transport.ts"
import { errorClasses } from "./generated/errors.ts"
import type { WebhookEvent } from "./generated/events.ts"
import { operations, type Resources, version, type WebhooksResource } from "./generated/resources.ts"
import { type VerifyOptions, verifyWebhook, type WebhookHeaders } from "./verifyWebhook.ts"

export * from "./core/ApiError.ts"
export { List, type ListMeta, Page } from "./core/Page.ts"
export type { RequestOptions, ResponseFacts } from "./core/Transport.ts"
export * from "./generated/errors.ts"
export type * from "./generated/events.ts"
export type * from "./generated/models.ts"
export type * from "./generated/resources.ts"
export type { VerifyOptions, WebhookHeaders } from "./verifyWebhook.ts"

/** Options of a client. */
export interface ClientOptions {
  /** Default: the environment variable MESSAGING_API_KEY. */
  readonly apiKey?: string | undefined
  /** Where the service listens. Default: the environment variable MESSAGING_URL, or http://127.0.0.1:8080. */
  readonly baseUrl?: string | undefined
  /** Milliseconds that one attempt may take. Default: 30 seconds. */
  readonly timeout?: number | undefined
  /** Attempts after the first. Default: 2. */
  readonly maxRetries?: number | undefined
  /** Sent with every request. */
  readonly headers?: { readonly [name: string]: string } | undefined
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Called with every answer, also with those that are retried. */
  readonly onResponse?: ((facts: ResponseFacts) => void) | undefined
}

/** A variable of the environment, where there is one: browsers have none, and Deno may refuse. */
const environment = (name: string): string | undefined => {
  try {
    const { process } = globalThis as { process?: { env?: { [name: string]: string | undefined } } } // absent in browsers
    return process?.env?.[name] || undefined
  } catch {
    return undefined
  }
}

/** Verifies requests that webhooks send. */
export const webhooks = {
  /**
   * The event, if this webhook's secret signed the request within the last five minutes. Throws
   * `WebhookVerificationError` otherwise.
   */
  // oxlint-disable-next-line max-params -- the order that users of other services know
  verify: (
    body: string | Uint8Array | ArrayBuffer,
    headers: WebhookHeaders,
    secret: string | ReadonlyArray<string>,
    options?: VerifyOptions
  ): Promise<WebhookEvent> => verifyWebhook({ body, headers }, secret, options)
}

/** Webhooks, and the check of what they send. */
export type Webhooks = WebhooksResource & typeof webhooks

// The generated table has a row for every method of the generated interface; a test calls each.
const Operations = class {
  constructor(transport: Transport) {
    Object.assign(this, bindOperations(operations, transport))
  }
} as new(transport: Transport) => Resources

/** A client of the service. Every resource is a field, every operation a method. */
export class MessagingClient extends Operations {
  declare readonly webhooks: Webhooks
  readonly #transport: Transport

  constructor(options: ClientOptions = {}) {
    const transport = new Transport({
      apiKey: options.apiKey ?? environment("MESSAGING_API_KEY"),
      baseUrl: (options.baseUrl ?? environment("MESSAGING_URL") ?? "http://127.0.0.1:8080").replace(/\/+$/, ""),
      timeout: options.timeout ?? 30_000,
      maxRetries: options.maxRetries ?? 2,
      headers: options.headers ?? {},
      // Browsers refuse a fetch that is called as a method of another object.
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
      onResponse: options.onResponse,
      userAgent: `messaging-service-sdk/${version}`,
      errors: errorClasses
    })
    super(transport)
    this.#transport = transport
    Object.assign(this.webhooks, webhooks)
  }

  /** Calls a path that has no method here, and returns the body of the answer. */
  request<A = unknown>(
    method: string,
    path: string,
    parts: { readonly query?: object; readonly body?: unknown; readonly options?: RequestOptions } = {}
  ): Promise<A> {
    const call: Call = { method, path, ...parts, keyed: method === "POST" }
    return this.#transport.json<A>(call)
  }
}

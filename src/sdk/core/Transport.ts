import { ApiError, type ApiErrorClass, ConnectionError, familyOf, MessagingError, TimeoutError } from "./ApiError.ts"
import { List, type ListMeta, type Query } from "./Page.ts"

/** Facts of an answer. */
export interface ResponseFacts {
  readonly method: string
  /** The full address. */
  readonly url: string
  readonly status: number
  readonly headers: Headers
  /** The request's id in the service's log. */
  readonly request_id: string | undefined
  /** 1 for the first attempt. */
  readonly attempt: number
  /** Whether the service repeated the answer of an earlier request with the same idempotency key. */
  readonly replayed: boolean
}

/** Options of one request. They replace the client's. */
export interface RequestOptions {
  /**
   * Makes the request take effect once, however often it is sent within 24 hours. By default every request that can
   * have one gets a random one, which its retries share.
   */
  readonly idempotencyKey?: string | undefined
  /** Milliseconds that one attempt may take. */
  readonly timeout?: number | undefined
  /** Attempts after the first. */
  readonly maxRetries?: number | undefined
  /** Ends the request and its retries. */
  readonly signal?: AbortSignal | undefined
  readonly headers?: { readonly [name: string]: string } | undefined
  /** Called with every answer, also with those that are retried. */
  readonly onResponse?: ((facts: ResponseFacts) => void) | undefined
}

/** Settings of a client. */
export interface TransportOptions {
  readonly baseUrl: string
  readonly apiKey: string | undefined
  readonly fetch: typeof globalThis.fetch
  readonly timeout: number
  readonly maxRetries: number
  readonly headers: { readonly [name: string]: string }
  readonly onResponse: ((facts: ResponseFacts) => void) | undefined
  readonly userAgent: string
  /** Classes of errors by their type. */
  readonly errors: { readonly [type: string]: ApiErrorClass }
}

/** One operation of the contract with its values. */
export interface Call {
  readonly method: string
  /** With the names of its parameters in braces. */
  readonly path: string
  /** Values of the parameters. */
  readonly at?: { readonly [name: string]: unknown }
  readonly query?: object | undefined
  readonly body?: unknown
  /** Whether the operation takes an `Idempotency-Key`. */
  readonly keyed?: boolean
  readonly options?: RequestOptions | undefined
}

/** Seconds of `Retry-After` beyond which an error is reported at once. */
const longestWait = 60
const firstDelay = 500
const longestDelay = 8_000

/** The path with its parameters' values. An empty segment would name the list instead of its row. */
const pathOf = ({ at = {}, path }: Call) =>
  path.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = `${at[name] ?? ""}`
    if (!Object.hasOwn(at, name)) return whole
    if (/^\.{0,2}$/.test(value)) {
      throw new MessagingError(`${name} is ${value === "" ? "empty" : `"${value}"`}. Pass an id.`)
    }
    return encodeURIComponent(value)
  })

const queryOf = (query: object = {}) => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== null) search.append(name, String(each))
    }
  }
  const text = search.toString()
  return text === "" ? "" : `?${text}`
}

const randomKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")

const isRecord = (value: unknown): value is { readonly [field: string]: unknown } =>
  typeof value === "object" && value !== null

const textOf = (value: unknown) => typeof value === "string" ? value : undefined
const numberOf = (value: unknown) => typeof value === "number" ? value : undefined

const isFieldError = (value: unknown): value is { param: string; type: string; message: string } =>
  isRecord(value) && [value["param"], value["type"], value["message"]].every((each) => typeof each === "string")

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Seconds of a `Retry-After` header, which is a number or a date. */
const retryAfterOf = (headers: Headers) => {
  const value = headers.get("retry-after")
  if (value === null) return undefined
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : undefined
}

const errorOf = ({ headers, status }: Response, text: string, classes: TransportOptions["errors"]): ApiError => {
  const answer = parsed(text)
  const body = isRecord(answer) && isRecord(answer["error"]) ? answer["error"] : {}
  const type = textOf(body["type"]) ?? "unknown"
  const Class = (Object.hasOwn(classes, type) ? classes[type] : undefined) ?? familyOf(status)
  const errors = body["errors"]
  return new Class({
    status,
    type,
    code: numberOf(body["code"]) ?? 0,
    message: textOf(body["message"]) ??
      `The answer has status ${status} and no error body. Check the client's baseUrl.`,
    param: textOf(body["param"]),
    errors: Array.isArray(errors) ? errors.filter(isFieldError) : undefined,
    doc_url: textOf(body["doc_url"]),
    retry_after: numberOf(body["retry_after"]) ?? retryAfterOf(headers),
    request_id: headers.get("x-request-id") ?? undefined,
    headers,
    body
  })
}

/** Whether a request may be sent again: it changes nothing twice, or the service did not begin it. */
const mayRetry = (error: unknown, isRepeatable: boolean) => {
  if (error instanceof ConnectionError) return isRepeatable
  // What a callback of the caller throws ends the request.
  if (!(error instanceof ApiError)) return false
  const { retry_after, status, type } = error
  if (retry_after !== undefined && retry_after > longestWait) return false
  if (status === 429) return retry_after !== undefined
  return isRepeatable && (status === 408 || status >= 500 || type === "idempotency_in_progress")
}

/** Timers of more milliseconds run at once. */
const longestTimer = 2 ** 31 - 1

/** Milliseconds that the service itself may wait before it answers. */
const waitOf = ({ query }: Call) => {
  const { wait } = (query ?? {}) as { readonly wait?: unknown } // one list has it
  return typeof wait === "number" ? wait * 1000 : 0
}

const delayBefore = (retry: number, error: unknown) => {
  const { retry_after } = error as Partial<ApiError> // a connection error has none
  const backOff = Math.min(firstDelay * 2 ** (retry - 1), longestDelay) * (0.5 + Math.random() / 2)
  return retry_after === undefined ? backOff : Math.max(retry_after * 1000, 100) + backOff / 4
}

const sleep = (milliseconds: number, signal: AbortSignal | undefined) =>
  new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort)
      resolve()
    }, milliseconds)
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    signal?.addEventListener("abort", abort, { once: true })
  })

/** Sends requests, repeats those that may be repeated, and turns error bodies into errors. */
export class Transport {
  readonly #settings: TransportOptions

  constructor(settings: TransportOptions) {
    this.#settings = settings
  }

  /** The `data` of the answer. */
  async data<A>(call: Call): Promise<A> {
    const { data } = await this.json<{ readonly data: A }>(call)
    return data
  }

  /** The whole body of the answer. */
  json<A>(call: Call): Promise<A> {
    return this.#run(call, async (response) => {
      const body = parsed(await response.text())
      if (!isRecord(body)) throw new ConnectionError(`The answer is no JSON. Check the client's baseUrl.`)
      return body as A // the contract's type; the service validates its answers in its tests
    })
  }

  /** Waits for success; the answer has no data. */
  none(call: Call): Promise<void> {
    return this.#run(call, async (response) => void await response.arrayBuffer())
  }

  /** The bytes of the answer with their type. */
  blob(call: Call): Promise<Blob> {
    return this.#run(call, (response) => response.blob())
  }

  /** A list of pages. */
  list<Item>(call: Call): List<Item> {
    return new List<Item>(
      (query: Query) => this.json<{ readonly data: ReadonlyArray<Item>; readonly meta: ListMeta }>({ ...call, query }),
      { ...call.query }
    )
  }

  async #run<A>(call: Call, read: (response: Response) => Promise<A>): Promise<A> {
    const { maxRetries = this.#settings.maxRetries, signal } = call.options ?? {}
    const request = this.#request(call)
    const isRepeatable = call.method !== "POST" || request.headers["idempotency-key"] !== undefined
    for (let attempt = 1;; attempt++) {
      try {
        return await this.#attempt({ ...request, call, attempt }, read)
      } catch (error) {
        if (signal?.aborted) throw signal.reason
        if (attempt > maxRetries || !mayRetry(error, isRepeatable)) throw error
        await sleep(delayBefore(attempt, error), signal)
      }
    }
  }

  #request(call: Call) {
    const { body, keyed, method, options = {}, query } = call
    const { apiKey, baseUrl, headers, userAgent } = this.#settings
    const key = options.idempotencyKey ?? (keyed === true ? randomKey() : undefined)
    const own: Record<string, string> = {
      accept: "application/json",
      // Browsers send their own, and would ask the server whether they may send ours.
      ...("document" in globalThis ? {} : { "user-agent": userAgent }),
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(key !== undefined && { "idempotency-key": key })
    }
    for (const [name, value] of Object.entries({ ...headers, ...options.headers })) own[name.toLowerCase()] = value
    const odd = Object.entries(own).find(([, value]) => /[^\t\x20-\x7e\x80-\xff]/.test(String(value).trim()))
    if (odd !== undefined) {
      const hint = odd[0] === "authorization" ? " Check the API key." : ""
      throw new MessagingError(`The header ${odd[0]} has a character that HTTP does not allow.${hint}`)
    }
    if (!call.path.startsWith("/")) throw new MessagingError("The path must begin with /.")
    if (method === "GET" && body !== undefined) throw new MessagingError("A GET request has no body.")
    return {
      url: `${baseUrl}${pathOf(call)}${queryOf(query)}`,
      method,
      headers: own,
      body: body === undefined ? null : JSON.stringify(body)
    }
  }

  async #attempt<A>(
    { attempt, body, call, headers, method, url }: {
      readonly url: string
      readonly method: string
      readonly headers: Record<string, string>
      readonly body: string | null
      readonly call: Call
      readonly attempt: number
    },
    read: (response: Response) => Promise<A>
  ): Promise<A> {
    const { onResponse = this.#settings.onResponse, signal, timeout = this.#settings.timeout + waitOf(call) } =
      call.options ?? {}
    const controller = new AbortController()
    const abort = () => controller.abort(signal?.reason)
    if (signal?.aborted) throw signal.reason
    signal?.addEventListener("abort", abort)
    const timer = setTimeout(() => controller.abort(), Math.min(timeout, longestTimer))
    /** Turns a failure of the connection into one of our errors. */
    const reached = async <B>(answer: () => Promise<B>): Promise<B> => {
      try {
        return await answer()
      } catch (cause) {
        if (cause instanceof MessagingError) throw cause
        if (controller.signal.aborted) throw new TimeoutError(`${url} did not answer within ${timeout} ms.`, { cause })
        throw new ConnectionError(`${url} cannot be reached. Check MESSAGING_URL, and that the service runs.`, {
          cause
        })
      }
    }
    try {
      // A followed redirect would turn a POST into a GET.
      const { fetch } = this.#settings
      const request: RequestInit = { method, headers, body, redirect: "manual", signal: controller.signal }
      const response = await reached(async () => fetch(url, request))
      onResponse?.({
        method,
        url,
        status: response.status,
        headers: response.headers,
        request_id: response.headers.get("x-request-id") ?? undefined,
        attempt,
        replayed: response.headers.get("idempotency-replayed") === "true"
      })
      if (response.ok) return await reached(() => read(response))
      throw errorOf(response, await reached(() => response.text()), this.#settings.errors)
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener("abort", abort)
    }
  }
}

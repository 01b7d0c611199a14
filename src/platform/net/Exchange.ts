import type { Dispatcher } from "undici"

/** A response: its status and the beginning of its body. */
export interface RawResponse {
  readonly status: number
  /** The target of a redirect. */
  readonly location: string | undefined
  /** The Retry-After field (RFC 9110 10.2.3), at most 100 characters. */
  readonly retryAfter: string | undefined
  /** The first bytes of the body, not decompressed. */
  readonly body: Uint8Array
  readonly truncated: boolean
}

/** The result of an exchange. A failure has a `status` if the response's head had arrived. */
export type ExchangeResult =
  | { readonly _tag: "Responded"; readonly response: RawResponse }
  | { readonly _tag: "Failed"; readonly error: Error; readonly status: number | undefined }
  /** `begin` answered false, so nothing was sent. */
  | { readonly _tag: "NotBegun" }

const enough = new Error("enough of the body was read")
const cancelled = new Error("the request was cancelled")

const first = (value: string | Array<string> | undefined) => typeof value === "string" ? value : value?.[0]

const noBytes = new Uint8Array(0)

/** undici's handler of one request: reports one result and keeps at most `maxBytes` of the body. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #maxBytes: number
  readonly #begin: () => boolean
  /** Called once, unless the exchange was cancelled. */
  onEnd: (result: ExchangeResult) => void = () => {}
  #controller: Dispatcher.DispatchController | undefined
  #ended = false
  #status: number | undefined
  #location: string | undefined
  #retryAfter: string | undefined
  #chunks: Array<Uint8Array> = []
  #size = 0

  constructor(maxBytes: number, begin: () => boolean = () => true) {
    this.#maxBytes = maxBytes
    this.#begin = begin
  }

  /** The response's status, once its head has arrived. */
  get status(): number | undefined {
    return this.#status
  }

  /** Aborts the request, also while it waits for its connection. */
  cancel(): void {
    this.#ended = true
    this.#controller?.abort(cancelled)
  }

  /** undici calls this right before it writes the request to a connection. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (!this.#ended && !this.#begin()) this.#end({ _tag: "NotBegun" })
    if (this.#ended) controller.abort(cancelled)
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | Array<string> | undefined>>
  ): void {
    if (status < 200) return
    this.#status = status
    this.#location = first(headers["location"])
    this.#retryAfter = first(headers["retry-after"])?.slice(0, 100)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#ended) return
    const room = this.#maxBytes - this.#size
    this.#chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk)
    this.#size += Math.min(chunk.length, room)
    if (chunk.length <= room) return
    this.#respond(true)
    controller.abort(enough)
  }

  onResponseEnd(): void {
    // undici frees the connection in the next iteration of the event loop. With an earlier result the caller's next
    // request would open a second connection, and so twice as many as there are slots.
    queueMicrotask(() => setImmediate(() => this.#respond(false)))
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end({ _tag: "Failed", error, status: this.#status })
  }

  #respond(truncated: boolean): void {
    // A copy, because a chunk is a view that would keep the socket's larger buffer in memory.
    const [chunk = noBytes, ...more] = this.#chunks
    const body = new Uint8Array(more.length === 0 ? chunk : Buffer.concat(this.#chunks, this.#size))
    this.#end({
      _tag: "Responded",
      response: { status: this.#status ?? 0, location: this.#location, retryAfter: this.#retryAfter, body, truncated }
    })
  }

  #end(result: ExchangeResult): void {
    if (this.#ended) return
    this.#ended = true
    this.#chunks = []
    this.onEnd(result)
  }
}

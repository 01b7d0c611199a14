import type { Dispatcher } from "undici"

/** What came back: the status and the beginning of the body. */
export interface Answer {
  readonly status: number
  /** Where a redirect points to. */
  readonly location: string | undefined
  /** When the endpoint wants to be asked again, in its own words (RFC 9110, 10.2.3), at most 100 characters. */
  readonly retryAfter: string | undefined
  /** The first bytes as they came: nothing is decompressed. */
  readonly body: Uint8Array
  readonly truncated: boolean
}

/** How one exchange ended; `status` of a failure is set when the head of the answer had come. */
export type Ending =
  | { readonly _tag: "Answered"; readonly answer: Answer }
  | { readonly _tag: "Broken"; readonly error: Error; readonly status: number | undefined }

const enough = new Error("enough of the body was read")
const cancelled = new Error("nobody waits for the answer any more")

const first = (value: string | Array<string> | undefined) => typeof value === "string" ? value : value?.[0]

const noBytes = new Uint8Array(0)

/** One request's dealings with undici: tells its ending once, keeps at most `maxBytes` of the body. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #maxBytes: number
  /** Called once, unless the exchange was cancelled. */
  onEnd: (ending: Ending) => void = () => {}
  #controller: Dispatcher.DispatchController | undefined
  #ended = false
  #status: number | undefined
  #location: string | undefined
  #retryAfter: string | undefined
  #chunks: Array<Uint8Array> = []
  #size = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Of the answer, once its head has come. */
  get status(): number | undefined {
    return this.#status
  }

  /** Gives up: what is on the wire is aborted, what still waits for its connection is never sent. */
  cancel(): void {
    this.#ended = true
    this.#controller?.abort(cancelled)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
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
    this.#answer(true)
    controller.abort(enough)
  }

  onResponseEnd(): void {
    // undici frees the connection in the next turn of the loop. An ending told before that would have the caller's next
    // request open a second connection, and so twice as many as there are slots.
    queueMicrotask(() => setImmediate(() => this.#answer(false)))
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end({ _tag: "Broken", error, status: this.#status })
  }

  #answer(truncated: boolean): void {
    // Copied, because a chunk is a view of a socket's larger buffer that would be kept alive with it.
    const [chunk = noBytes, ...more] = this.#chunks
    const body = new Uint8Array(more.length === 0 ? chunk : Buffer.concat(this.#chunks, this.#size))
    this.#end({
      _tag: "Answered",
      answer: { status: this.#status ?? 0, location: this.#location, retryAfter: this.#retryAfter, body, truncated }
    })
  }

  #end(ending: Ending): void {
    if (this.#ended) return
    this.#ended = true
    this.#chunks = []
    this.onEnd(ending)
  }
}

import { Readable, Transform, type Writable } from "node:stream"
import { goesAsItIs } from "./goesAsItIs.ts"
import type { BodyProgress } from "./relayFailure.ts"

/**
 * The message as the engine's source. The engine calls `pipe` once, after the relay's 354 and never before, so
 * `started === false` proves that not a byte of the body left; `ended` is set when the final dot went to the socket, and
 * until then proves that the relay does not have the message.
 */
export class MessageBody extends Readable implements BodyProgress {
  started = false
  ended = false
  readonly #message: Buffer
  readonly #socket: Writable | undefined
  readonly #onEnded: () => void

  constructor(message: Buffer, socket: Writable | undefined, onEnded: () => void) {
    super()
    this.#message = message
    this.#socket = socket
    this.#onEnded = onEnded
  }

  override pipe<T extends NodeJS.WritableStream>(destination: T): T {
    this.started = true
    destination.once("end", () => {
      this.ended = true
      this.#onEnded()
    })
    // The engine writes body and dot one by one; held back for this turn, they leave together.
    this.#socket?.cork()
    setImmediate(() => this.#socket?.uncork())
    // The engine looks at each byte on its way in; what needs no change is put at its way out, and it ends the last line.
    if (destination instanceof Transform && goesAsItIs(this.#message)) {
      destination.push(this.#message.subarray(0, -2))
      destination.end()
    } else destination.end(this.#message)
    return destination
  }
}

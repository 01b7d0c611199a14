const intro = Buffer.from("WA")
const introLength = 4
const routingHeaderLength = 7
const lengthBytes = 3

/**
 * Cuts the bytes of a client into frames: once an intro, perhaps behind a routing header, then frames of a 3-byte
 * big-endian length and a body. Throws on bytes that no client sends.
 */
export class FrameReader {
  #bytes = Buffer.alloc(0)
  #introduced = false

  /** The frames that are complete with these bytes. */
  push(bytes: Uint8Array): ReadonlyArray<Buffer> {
    this.#bytes = Buffer.concat([this.#bytes, bytes])
    if (!this.#introduced && !this.#takeIntro()) return []
    const frames: Array<Buffer> = []
    while (this.#bytes.length >= lengthBytes) {
      const end = lengthBytes + this.#bytes.readUIntBE(0, lengthBytes)
      if (this.#bytes.length < end) break
      frames.push(this.#bytes.subarray(lengthBytes, end))
      this.#bytes = this.#bytes.subarray(end)
    }
    return frames
  }

  #takeIntro(): boolean {
    // A client that was given routing info repeats it in front of the intro: "ED" or its two bytes, then a length.
    const routed = this.#bytes.length >= routingHeaderLength && !this.#bytes.subarray(0, 2).equals(intro)
    const start = routed ? routingHeaderLength + this.#bytes.readUIntBE(4, 3) : 0
    if (this.#bytes.length < start + introLength) return false
    if (!this.#bytes.subarray(start, start + 2).equals(intro)) throw new Error("The bytes do not begin with the intro")
    this.#bytes = this.#bytes.subarray(start + introLength)
    this.#introduced = true
    return true
  }
}

/** A frame as it goes over the wire; the server's have no intro. */
export const frameOf = (body: Uint8Array): Buffer => {
  const length = Buffer.alloc(lengthBytes)
  length.writeUIntBE(body.length, 0, lengthBytes)
  return Buffer.concat([length, body])
}

const intro = Buffer.from("WA")
const introLength = 4
const routingHeaderLength = 7
const lengthBytes = 3

/**
 * Splits the bytes of a client into frames. First comes an intro, with an optional routing header before it. Each frame
 * has a 3-byte big-endian length and a body. Throws if the intro is missing.
 */
export class FrameReader {
  #bytes = Buffer.alloc(0)
  #hasIntro = false

  /** Returns the frames that these bytes complete. */
  push(bytes: Uint8Array): ReadonlyArray<Buffer> {
    this.#bytes = Buffer.concat([this.#bytes, bytes])
    if (!this.#hasIntro && !this.#readIntro()) return []
    const frames: Array<Buffer> = []
    while (this.#bytes.length >= lengthBytes) {
      const end = lengthBytes + this.#bytes.readUIntBE(0, lengthBytes)
      if (this.#bytes.length < end) break
      frames.push(this.#bytes.subarray(lengthBytes, end))
      this.#bytes = this.#bytes.subarray(end)
    }
    return frames
  }

  #readIntro(): boolean {
    // A client with routing info sends it before the intro: "ED", two bytes, then a length.
    const routed = this.#bytes.length >= routingHeaderLength && !this.#bytes.subarray(0, 2).equals(intro)
    const start = routed ? routingHeaderLength + this.#bytes.readUIntBE(4, 3) : 0
    if (this.#bytes.length < start + introLength) return false
    if (!this.#bytes.subarray(start, start + 2).equals(intro)) {
      throw new Error("The connection does not start with the intro")
    }
    this.#bytes = this.#bytes.subarray(start + introLength)
    this.#hasIntro = true
    return true
  }
}

/** Frames a body for the wire. The server sends no intro. */
export const frameOf = (body: Uint8Array): Buffer => {
  const length = Buffer.alloc(lengthBytes)
  length.writeUIntBE(body.length, 0, lengthBytes)
  return Buffer.concat([length, body])
}

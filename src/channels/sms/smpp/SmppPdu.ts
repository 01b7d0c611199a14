import { Result } from "effect"

/** The operations of SMPP 3.4 that are spoken here (5.1.2.1); an answer has the highest bit set. */
export const commands = {
  bindTransceiver: 0x09,
  submitSm: 0x04,
  deliverSm: 0x05,
  unbind: 0x06,
  enquireLink: 0x15,
  genericNack: 0x8000_0000
} as const

const answer = 0x8000_0000

/** One unit of the protocol: a request, or the answer to the one with the same sequence number. */
export interface Pdu {
  readonly command: number
  readonly status: number
  readonly sequence: number
  readonly body: Uint8Array
}

export const isAnswer = ({ command }: Pdu): boolean => command >= answer

/** The command of the answer to a request. */
export const answerTo = (command: number): number => (command | answer) >>> 0

const headerSize = 16

/** Longer than any unit of this protocol has to be; what claims more is garbage, which must not fill the memory. */
const largest = 65_536

/** The octets of a unit. */
export const encodePdu = ({ body, command, sequence, status }: Pdu): Buffer => {
  const bytes = Buffer.alloc(headerSize + body.length)
  bytes.writeUInt32BE(bytes.length, 0)
  bytes.writeUInt32BE(command, 4)
  bytes.writeUInt32BE(status, 8)
  bytes.writeUInt32BE(sequence, 12)
  bytes.set(body, headerSize)
  return bytes
}

/**
 * The whole units in what has come so far, and what is left for the next time. The failure is a length that cannot be:
 * nothing after it can be read, so the connection is of no more use.
 */
export const readPdus = (
  bytes: Buffer
): Result.Result<{ readonly pdus: ReadonlyArray<Pdu>; readonly rest: Buffer }, string> => {
  const pdus: Array<Pdu> = []
  let at = 0
  while (bytes.length - at >= 4) {
    const length = bytes.readUInt32BE(at)
    if (length < headerSize || length > largest) return Result.fail(`a unit cannot have ${length} octets`)
    if (bytes.length - at < length) break
    pdus.push({
      command: bytes.readUInt32BE(at + 4),
      status: bytes.readUInt32BE(at + 8),
      sequence: bytes.readUInt32BE(at + 12),
      body: bytes.subarray(at + headerSize, at + length)
    })
    at += length
  }
  return Result.succeed({ pdus, rest: bytes.subarray(at) })
}

/** Reads fields one after the other; past the end every field is empty or 0, and `isShort` tells that there was less. */
export class PduReader {
  isShort = false
  #at = 0
  readonly #body: Buffer

  constructor(body: Uint8Array) {
    this.#body = Buffer.from(body.buffer, body.byteOffset, body.length)
  }

  get left(): number {
    return this.#body.length - this.#at
  }

  octet(): number {
    const octet = this.#body[this.#at]
    this.#at++
    if (octet === undefined) this.isShort = true
    return octet ?? 0
  }

  /** A string up to its NUL, or, where a peer forgot that, up to the end. */
  text(): string {
    const end = this.#body.indexOf(0, this.#at)
    if (end < 0) this.isShort = true
    const text = this.#body.toString("latin1", Math.min(this.#at, this.#body.length), end < 0 ? undefined : end)
    this.#at = end < 0 ? this.#body.length : end + 1
    return text
  }

  octets(length: number): Buffer {
    if (length > this.left) this.isShort = true
    const octets = this.#body.subarray(Math.min(this.#at, this.#body.length), this.#at + length)
    this.#at += length
    return octets
  }

  /** The optional parameters (3.2.4.1), by their tags; one that is cut off is none. */
  parameters(): ReadonlyMap<number, Buffer> {
    const found = new Map<number, Buffer>()
    while (this.left >= 4) {
      const head = this.octets(4)
      const length = head.readUInt16BE(2)
      if (length > this.left) return found
      found.set(head.readUInt16BE(0), this.octets(length))
    }
    return found
  }
}

/** Fields one after the other. */
export const pduBody = (...fields: ReadonlyArray<number | string | Uint8Array>): Buffer =>
  Buffer.concat(
    fields.map((field) =>
      typeof field === "number"
        ? Buffer.of(field)
        : typeof field === "string"
        ? Buffer.from(`${field}\0`, "latin1")
        : field
    )
  )

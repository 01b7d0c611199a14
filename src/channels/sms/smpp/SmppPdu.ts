import { Result } from "effect"

/** The operations of SMPP 3.4 in use (5.1.2.1). A response has the highest bit set. */
export const commands = {
  bindReceiver: 0x01,
  bindTransmitter: 0x02,
  bindTransceiver: 0x09,
  submitSm: 0x04,
  deliverSm: 0x05,
  unbind: 0x06,
  enquireLink: 0x15,
  genericNack: 0x8000_0000
} as const

const responseBit = 0x8000_0000

/** A protocol data unit: a request, or the response to the request with the same sequence number. */
export interface Pdu {
  readonly command: number
  readonly status: number
  readonly sequence: number
  readonly body: Uint8Array
}

export const isResponse = ({ command }: Pdu): boolean => command >= responseBit

/** The command of the response to a request. */
export const responseTo = (command: number): number => (command | responseBit) >>> 0

const headerSize = 16

/** More octets than any PDU needs. A larger length is garbage and must not fill memory. */
const maxSize = 65_536

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
 * Splits received octets into complete PDUs and the rest. It fails at an impossible length: no later PDU can be found, so
 * the connection must be closed.
 */
export const readPdus = (
  bytes: Buffer
): Result.Result<{ readonly pdus: ReadonlyArray<Pdu>; readonly rest: Buffer }, string> => {
  const pdus: Array<Pdu> = []
  let at = 0
  while (bytes.length - at >= 4) {
    const length = bytes.readUInt32BE(at)
    if (length < headerSize || length > maxSize) return Result.fail(`a PDU cannot have ${length} octets`)
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

/** Reads fields in order. Past the end every field is empty or 0, and `isShort` is true. */
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

  /** A string up to its NUL, or up to the end if the peer omitted it. */
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

  /** The optional parameters (3.2.4.1) by their tags, without a truncated one. */
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

/** Encodes fields in order. */
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

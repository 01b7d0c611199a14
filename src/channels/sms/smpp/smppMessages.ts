import type { Outgoing } from "../parts/SubmitOutcome.ts"
import { encodeGsm } from "../text/gsm0338.ts"
import { pduBody, PduReader } from "./SmppPdu.ts"

/** Version 3.4 of the protocol. */
const version = 0x34

/** What a short_message field holds; a longer text goes into message_payload (5.3.2.32). */
const longestShort = 254

const tags = { messagePayload: 0x0424, receiptedMessageId: 0x001e, messageState: 0x0427 } as const

/** Who binds. */
export interface BindName {
  readonly systemId: string
  readonly password: string
  readonly systemType: string
}

/** The body of bind_transceiver (4.1.5): any address. */
export const bindBody = ({ password, systemId, systemType }: BindName): Buffer =>
  pduBody(systemId, password, systemType, version, 0, 0, "")

/** Type and plan of an address, and its characters (5.2.5, 5.2.6): a name, an international number, or a short code. */
const address = (id: string | null): Buffer => {
  if (id === null) return pduBody(0, 0, "")
  if (id.startsWith("+")) return pduBody(1, 1, id.slice(1))
  return /^\d+$/.test(id) ? pduBody(3, 0, id) : pduBody(5, 0, id)
}

const ucs2 = (text: string) => Buffer.from(text, "utf16le").swap16()

/** An octet for a septet, or two for a UTF-16 unit in network order. */
const userData = ({ body, encoding }: Outgoing): Uint8Array =>
  encoding === "gsm7" ? encodeGsm(body) ?? ucs2(body) : ucs2(body)

/** The header that lets a handset put parts together, with a reference of 8 bits (3GPP 23.040, 9.2.3.24.1). */
const joined = ({ message_id, part_no, parts }: Outgoing): Buffer =>
  parts === 1 ? Buffer.alloc(0) : Buffer.of(5, 0, 3, message_id % 256, parts, part_no)

/** The body of submit_sm (4.4.1). Every part asks for a receipt: the message is delivered when all of them are. */
export const submitBody = (part: Outgoing): Buffer => {
  const content = Buffer.concat([joined(part), userData(part)])
  const isShort = content.length <= longestShort
  const size = Buffer.alloc(4)
  size.writeUInt16BE(tags.messagePayload, 0)
  size.writeUInt16BE(content.length, 2)
  return pduBody(
    "",
    address(part.sender),
    address(part.recipient),
    part.parts > 1 ? 0x40 : 0,
    0,
    0,
    "",
    "",
    1,
    0,
    part.encoding === "gsm7" ? 0 : 8,
    0,
    isShort ? content.length : 0,
    isShort ? content : Buffer.concat([size, content])
  )
}

/** The id that the carrier gives a part, in submit_sm_resp; undefined when there is none. */
export const readSubmitAnswer = (body: Uint8Array): string | undefined => {
  const id = new PduReader(body).text().trim()
  return id === "" ? undefined : id
}

/** What deliver_sm brings: a receipt, or a text of somebody's. */
export interface Delivered {
  readonly esmClass: number
  /** As ASCII; a text of somebody's may be in another coding. */
  readonly text: string
  readonly receiptedId: string | undefined
  readonly messageState: number | undefined
}

/** The fields of deliver_sm (4.6.1) that matter here; undefined when its mandatory part is cut off. */
export const readDeliver = (body: Uint8Array): Delivered | undefined => {
  const reader = new PduReader(body)
  reader.text()
  for (let each = 0; each < 2; each++) {
    reader.octets(2)
    reader.text()
  }
  const esmClass = reader.octet()
  reader.octets(2)
  reader.text()
  reader.text()
  reader.octets(4)
  const short = reader.octets(reader.octet())
  if (reader.isShort) return undefined
  const parameters = reader.parameters()
  const payload = parameters.get(tags.messagePayload)
  return {
    esmClass,
    text: (short.length === 0 && payload !== undefined ? payload : short).toString("latin1"),
    receiptedId: parameters.get(tags.receiptedMessageId)?.toString("latin1").replace(/\0[^]*$/, "").trim(),
    messageState: parameters.get(tags.messageState)?.at(0)
  }
}

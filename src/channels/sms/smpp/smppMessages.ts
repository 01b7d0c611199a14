import type { OutgoingPart } from "../parts/SmsProvider.ts"
import { encodeGsm } from "../text/gsm0338.ts"
import { pduBody, PduReader } from "./SmppPdu.ts"

/** The meaning of a submit_sm_resp status for the part. */
export type SubmitVerdict = "accepted" | "throttled" | "unbound" | "deferred" | "refused"

/** The carrier throttles: ESME_RTHROTTLED, ESME_RMSGQFUL. */
const throttled = new Set([0x58, 0x14])

/** The carrier no longer knows this bind: ESME_RINVBNDSTS, ESME_RBINDFAIL. */
const unbound = new Set([0x04, 0x0d])

/** Temporary faults of the carrier: ESME_RSYSERR, ESME_RX_T_APPN. */
const deferred = new Set([0x08, 0x64])

/** Classifies a command_status (5.1.3). An unknown status is a refusal: a retry would cost and change nothing. */
export const verdictOf = (status: number): SubmitVerdict => {
  if (status === 0) return "accepted"
  if (throttled.has(status)) return "throttled"
  if (unbound.has(status)) return "unbound"
  return deferred.has(status) ? "deferred" : "refused"
}

/** The status as the error code of a message: `smpp_0x0000000b`. */
export const statusCode = (status: number): string => `smpp_0x${status.toString(16).padStart(8, "0")}`

/** SMPP 3.4. */
const version = 0x34

/** The most octets of a short_message; a longer text goes into message_payload (5.3.2.32). */
const maxShortMessage = 254

const tags = { messagePayload: 0x0424, receiptedMessageId: 0x001e, messageState: 0x0427 } as const

/** The credentials of a bind. */
export interface BindCredentials {
  readonly systemId: string
  readonly password: string
  readonly systemType: string
}

/** The body of bind_transceiver (4.1.5), for all addresses. */
export const bindBody = ({ password, systemId, systemType }: BindCredentials): Buffer =>
  pduBody(systemId, password, systemType, version, 0, 0, "")

/** Type, plan and text of an address (5.2.5, 5.2.6): a name, an international number, or a short code. */
const address = (id: string | null): Buffer => {
  if (id === null) return pduBody(0, 0, "")
  if (id.startsWith("+")) return pduBody(1, 1, id.slice(1))
  return /^\d+$/.test(id) ? pduBody(3, 0, id) : pduBody(5, 0, id)
}

const ucs2 = (text: string) => Buffer.from(text, "utf16le").swap16()

/** One octet for each septet, or two for each UTF-16 unit in network order. */
const userData = ({ body, encoding }: OutgoingPart): Uint8Array =>
  encoding === "gsm7" ? encodeGsm(body) ?? ucs2(body) : ucs2(body)

/** The header by which a handset joins parts, with a reference of 8 bits (3GPP 23.040, 9.2.3.24.1). */
const joinHeader = ({ message_id, part_no, parts }: OutgoingPart): Buffer =>
  parts === 1 ? Buffer.alloc(0) : Buffer.of(5, 0, 3, message_id % 256, parts, part_no)

/** The body of submit_sm (4.4.1). Every part asks for a receipt: the message is delivered when all its parts are. */
export const submitBody = (part: OutgoingPart): Buffer => {
  const content = Buffer.concat([joinHeader(part), userData(part)])
  const isShort = content.length <= maxShortMessage
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

/** The carrier's id of a part in submit_sm_resp, if any. */
export const readSubmitResponse = (body: Uint8Array): string | undefined => {
  const id = new PduReader(body).text().trim()
  return id === "" ? undefined : id
}

/** The content of deliver_sm: a receipt, or a text from a phone. */
export interface Delivered {
  readonly esmClass: number
  /** Decoded as ASCII, without NUL, which PostgreSQL cannot store; a text from a phone may have another coding. */
  readonly text: string
  readonly receiptedId: string | undefined
  readonly messageState: number | undefined
}

/** Reads the fields of deliver_sm (4.6.1) that receipts use; undefined when a mandatory field is truncated. */
export const readDeliver = (body: Uint8Array): Delivered | undefined => {
  const reader = new PduReader(body)
  reader.text()
  for (let address = 0; address < 2; address++) {
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
    text: (short.length === 0 && payload !== undefined ? payload : short).toString("latin1").replaceAll("\0", " "),
    receiptedId: parameters.get(tags.receiptedMessageId)?.toString("latin1").replace(/\0[^]*$/, "").trim(),
    messageState: parameters.get(tags.messageState)?.at(0)
  }
}

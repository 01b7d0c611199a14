import { hasValidIds, type Stanza } from "../wire/Stanza.ts"

/** A person as a stanza names them. */
export interface Author {
  /** `…@lid`. */
  readonly lid: string | undefined
  /** Digits only. */
  readonly phone: string | undefined
}

/** The facts in the attributes of a message. */
export interface InboundEnvelope {
  readonly id: string
  /** The one name of each chat: the group, or else the author's hidden number, or their phone number without one. */
  readonly chat: string
  readonly author: Author
  readonly isGroup: boolean
  /** The name that the author chose. */
  readonly pushName: string | undefined
  /** When it was sent, in seconds since 1970; undefined if the value is impossible. */
  readonly sentAt: number | undefined
}

/** The hosts of hidden numbers and of phone numbers. WhatsApp runs the devices of some businesses on `hosted`. */
const hosts = { lid: ["lid", "hosted.lid"], phone: ["s.whatsapp.net", "hosted"] }

const user = (jid: string, servers: ReadonlyArray<string>): string | undefined => {
  const [name = "", host = ""] = jid.split("@")
  return servers.includes(host) ? name.split(":")[0] : undefined
}

const lidIn = (...jids: ReadonlyArray<string | undefined>) =>
  jids.map((jid) => user(jid ?? "", hosts.lid)).find((name) => name !== undefined)

const phoneIn = (...jids: ReadonlyArray<string | undefined>) =>
  jids.map((jid) => user(jid ?? "", hosts.phone)).find((name) => name !== undefined && /^\d{5,20}$/.test(name))

/** The person that these attributes name. */
export const authorIn = (...jids: ReadonlyArray<string | undefined>): Author => {
  const lid = lidIn(...jids)
  return { lid: lid === undefined ? undefined : `${lid}@lid`, phone: phoneIn(...jids) }
}

/** The year 2100. */
const maxSeconds = 4_102_444_800

const seconds = (t: string | undefined) => {
  const value = Number(t)
  return Number.isInteger(value) && value > 0 && value < maxSeconds ? value : undefined
}

/** A broadcast list, which only its author sees: each recipient gets a message in their chat with the author. */
const isList = (jid: string) => jid.endsWith("@broadcast") && jid !== "status@broadcast"

/**
 * Reads the attributes of a message. Undefined if it belongs to no chat: traffic between a user's own devices, status
 * posts, newsletters, and copies of messages that the session's phone sent, which name a recipient. Undefined for invalid
 * ids, too.
 */
export const inboundEnvelope = (stanza: Stanza): InboundEnvelope | undefined => {
  const { attrs } = stanza
  const { category, from = "", id = "", notify, participant, participant_lid, participant_pn } = attrs
  if (id === "" || category === "peer" || attrs["recipient"] !== undefined || !hasValidIds(stanza)) return undefined
  const isGroup = from.endsWith("@g.us")
  const author = isGroup || isList(from)
    ? authorIn(participant, participant_lid, participant_pn)
    : authorIn(from, attrs["sender_lid"], attrs["sender_pn"])
  const chat = isGroup
    ? from
    : author.lid ?? (author.phone === undefined ? undefined : `${author.phone}@s.whatsapp.net`)
  if (chat === undefined || (author.lid === undefined && author.phone === undefined)) return undefined
  return { id, chat, author, isGroup, pushName: notify, sentAt: seconds(attrs["t"]) }
}

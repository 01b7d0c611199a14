import type { Stanza } from "../wire/Stanza.ts"
import { hasSoundNames } from "../wire/validIds.ts"

/** Somebody as a stanza names him. */
export interface Author {
  /** `…@lid`. */
  readonly lid: string | undefined
  /** Digits alone. */
  readonly phone: string | undefined
}

/** What the outside of a message says. */
export interface InboundEnvelope {
  readonly id: string
  /** One name of each chat: the group, else the author's hidden number, or his phone number where that is not known. */
  readonly chat: string
  readonly author: Author
  readonly isGroup: boolean
  /** What the author calls himself. */
  readonly pushName: string | undefined
  /** Seconds since 1970, when it was sent; undefined where that cannot be. */
  readonly sentAt: number | undefined
}

/** Where hidden numbers are, and where phone numbers: `hosted` is the device of a business that WhatsApp runs for it. */
const hosts = { lid: ["lid", "hosted.lid"], phone: ["s.whatsapp.net", "hosted"] }

const user = (jid: string, servers: ReadonlyArray<string>): string | undefined => {
  const [name = "", host = ""] = jid.split("@")
  return servers.includes(host) ? name.split(":")[0] : undefined
}

const lidIn = (...jids: ReadonlyArray<string | undefined>) =>
  jids.map((jid) => user(jid ?? "", hosts.lid)).find((name) => name !== undefined)

const phoneIn = (...jids: ReadonlyArray<string | undefined>) =>
  jids.map((jid) => user(jid ?? "", hosts.phone)).find((name) => name !== undefined && /^\d{5,20}$/.test(name))

/** Somebody by the names that stand in attributes. */
export const authorIn = (...jids: ReadonlyArray<string | undefined>): Author => {
  const lid = lidIn(...jids)
  return { lid: lid === undefined ? undefined : `${lid}@lid`, phone: phoneIn(...jids) }
}

const latest = 4_102_444_800

const seconds = (t: string | undefined) => {
  const value = Number(t)
  return Number.isInteger(value) && value > 0 && value < latest ? value : undefined
}

/** A list of its author's that nobody else sees: to the others it is a message in their chat with him. */
const isList = (jid: string) => jid.endsWith("@broadcast") && jid !== "status@broadcast"

/**
 * Undefined for what is in no chat: words between the devices of one user, status posts, newsletters, and copies of what
 * the session's own phone sends, which name their recipient; and for what has names that are none.
 */
export const inboundEnvelope = (stanza: Stanza): InboundEnvelope | undefined => {
  const { attrs } = stanza
  const { category, from = "", id = "", notify, participant, participant_lid, participant_pn } = attrs
  if (id === "" || category === "peer" || attrs["recipient"] !== undefined || !hasSoundNames(stanza)) return undefined
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

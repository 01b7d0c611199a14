import { type BaileysEventMap, type Contact, jidDecode, type WASocket } from "@whiskeysockets/baileys"
import { Effect } from "effect"
import { type DirectorySocket, type GroupChange, type GroupFacts, GroupRefused } from "../socket/DirectorySocket.ts"
import { SocketFailed } from "../socket/SocketErrors.ts"
import type { Person } from "../socket/WhatsAppSocket.ts"

type Metadata = Awaited<ReturnType<WASocket["groupMetadata"]>>

/** The digits of a jid that is a phone number; a device is left out. */
const phoneOf = (jid: string | null | undefined): string | undefined => {
  const decoded = jid === null || jid === undefined ? undefined : jidDecode(jid)
  return decoded?.server === "s.whatsapp.net" ? decoded.user : undefined
}

const lidOf = (jid: string | null | undefined): string | undefined => {
  const decoded = jid === null || jid === undefined ? undefined : jidDecode(jid)
  return decoded?.server === "lid" ? `${decoded.user}@lid` : undefined
}

const factsOf = (group: Metadata): GroupFacts => ({
  jid: group.id,
  name: group.subject ?? "",
  description: group.desc === undefined || group.desc === "" ? null : group.desc,
  addressing: group.participants.some(({ id }) => id.endsWith("@lid")) ? "lid" : "pn",
  ephemeralSeconds: group.ephemeralDuration === undefined || group.ephemeralDuration <= 0
    ? null
    : group.ephemeralDuration,
  members: group.participants.map(({ admin, id, phoneNumber }) => ({
    jid: id,
    phone: phoneOf(phoneNumber) ?? phoneOf(id) ?? null,
    role: admin === "superadmin" || admin === "admin" ? admin : "member"
  }))
})

/** Statuses by which WhatsApp says no, and not that something went wrong. */
const refusals: ReadonlySet<unknown> = new Set([401, 403, 404, 406, 410])

/** The library's sentence has no content of a message and no key. */
const reasonOf = (error: unknown) => error instanceof Error ? error.message : "no reason was given"

const codeOf = (error: unknown): unknown => {
  if (typeof error !== "object" || error === null) return undefined
  const data = "data" in error ? error.data : undefined
  const output = "output" in error ? error.output : undefined
  return typeof data === "number"
    ? data
    : typeof output === "object" && output !== null && "statusCode" in output
    ? output.statusCode
    : undefined
}

const asking = <A>(ask: () => Promise<A>) =>
  Effect.tryPromise({ try: ask, catch: (error) => new SocketFailed({ reason: reasonOf(error) }) })

const askingGroup = <A>(ask: () => Promise<A>) =>
  Effect.tryPromise({
    try: ask,
    catch: (error) => refusals.has(codeOf(error)) ? new GroupRefused({}) : new SocketFailed({ reason: reasonOf(error) })
  })

const jids = (numbers: ReadonlyArray<string>) => numbers.map((number) => `${number}@s.whatsapp.net`)

const changing = (socket: WASocket, jid: string, change: GroupChange): Promise<unknown> => {
  switch (change._tag) {
    case "Rename":
      return socket.groupUpdateSubject(jid, change.name)
    case "Describe":
      return socket.groupUpdateDescription(jid, change.description ?? undefined)
    case "Add":
      return socket.groupParticipantsUpdate(jid, jids(change.numbers), "add")
    case "Remove":
      return socket.groupParticipantsUpdate(jid, jids(change.numbers), "remove")
  }
}

/** What a socket of the library can be asked of people and groups. */
export const directoryOf = (socket: WASocket): DirectorySocket => ({
  numberOf: (lid) =>
    Effect.map(asking(() => socket.signalRepository.lidMapping.getPNForLID(lid)), (jid) => phoneOf(jid)),
  groups: Effect.map(asking(() => socket.groupFetchAllParticipating()), (all) => Object.values(all).map(factsOf)),
  group: (jid) => Effect.map(askingGroup(() => socket.groupMetadata(jid)), factsOf),
  createGroup: ({ name, numbers }) => Effect.map(askingGroup(() => socket.groupCreate(name, jids(numbers))), factsOf),
  changeGroup: (jid, change) => Effect.asVoid(askingGroup(() => changing(socket, jid, change))),
  inviteCode: (jid) => askingGroup(() => socket.groupInviteCode(jid))
})

const personOf = ({ id, lid, name, notify, phoneNumber, verifiedName }: Partial<Contact>): Person => ({
  lid: lidOf(lid) ?? lidOf(id),
  phone: phoneOf(phoneNumber) ?? phoneOf(id),
  name: name ?? verifiedName ?? notify,
  isNamed: name !== undefined
})

/** Tells of the people that the library hears of. */
export const tellOfPeople = (socket: WASocket, tell: (people: ReadonlyArray<Person>) => void): void => {
  const onContacts = (contacts: ReadonlyArray<Partial<Contact>>) => tell(contacts.map(personOf))
  socket.ev.on("contacts.upsert", onContacts)
  socket.ev.on("contacts.update", onContacts)
  socket.ev.on(
    "lid-mapping.update",
    ({ lid, pn }: BaileysEventMap["lid-mapping.update"]) =>
      tell([{ lid: lidOf(lid), phone: phoneOf(pn), name: undefined, isNamed: false }])
  )
  socket.ev.on("messaging-history.set", ({ contacts, lidPnMappings = [] }) =>
    tell([
      ...contacts.map(personOf),
      ...lidPnMappings.map(({ lid, pn }) => ({
        lid: lidOf(lid),
        phone: phoneOf(pn),
        name: undefined,
        isNamed: false
      }))
    ]))
}

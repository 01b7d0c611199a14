import { type BaileysEventMap, type Contact, jidDecode, type WASocket } from "@whiskeysockets/baileys"
import { Effect } from "effect"
import type { DirectorySocket, GroupChange, GroupFacts } from "../socket/DirectorySocket.ts"
import { GroupRefused, SocketFailed } from "../socket/SocketErrors.ts"
import type { Person } from "../socket/WhatsAppSocket.ts"
import { clean } from "../wire/Stanza.ts"
import { reasonOf, request, statusOf } from "./BaileysErrors.ts"

type Metadata = Awaited<ReturnType<WASocket["groupMetadata"]>>

/** The digits of a jid that is a phone number, without its device. */
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
  name: clean(group.subject),
  description: clean(group.desc) || null,
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

/** Statuses by which WhatsApp refuses a request. Other statuses mean a failure. */
const refusals: ReadonlySet<unknown> = new Set([401, 403, 404, 406, 410])

const groupRequest = <A>(ask: () => Promise<A>) =>
  Effect.tryPromise({
    try: ask,
    catch: (error) =>
      refusals.has(statusOf(error)) ? new GroupRefused({}) : new SocketFailed({ reason: reasonOf(error) })
  })

const jids = (numbers: ReadonlyArray<string>) => numbers.map((number) => `${number}@s.whatsapp.net`)

const change = (socket: WASocket, jid: string, change: GroupChange): Promise<unknown> => {
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

/** Requests about people and groups over a socket of the library. */
export const directoryOf = (socket: WASocket): DirectorySocket => ({
  numberOf: (lid) => Effect.map(request(() => socket.signalRepository.lidMapping.getPNForLID(lid)), phoneOf),
  groups: Effect.map(request(() => socket.groupFetchAllParticipating()), (all) => Object.values(all).map(factsOf)),
  group: (jid) => Effect.map(groupRequest(() => socket.groupMetadata(jid)), factsOf),
  createGroup: ({ name, numbers }) => Effect.map(groupRequest(() => socket.groupCreate(name, jids(numbers))), factsOf),
  changeGroup: (jid, wanted) => Effect.asVoid(groupRequest(() => change(socket, jid, wanted))),
  inviteCode: (jid) => groupRequest(() => socket.groupInviteCode(jid))
})

const personOf = ({ id, lid, name, notify, phoneNumber, verifiedName }: Partial<Contact>): Person => ({
  lid: lidOf(lid) ?? lidOf(id),
  phone: phoneOf(phoneNumber) ?? phoneOf(id),
  name: name ?? verifiedName ?? notify,
  isNamed: name !== undefined
})

const mappedPerson = ({ lid, pn }: BaileysEventMap["lid-mapping.update"]): Person => ({
  lid: lidOf(lid),
  phone: phoneOf(pn),
  name: undefined,
  isNamed: false
})

/** Passes on the people that the library learns about. */
export const listenForPeople = (socket: WASocket, onPeople: (people: ReadonlyArray<Person>) => void): void => {
  const onContacts = (contacts: ReadonlyArray<Partial<Contact>>) => onPeople(contacts.map(personOf))
  socket.ev.on("contacts.upsert", onContacts)
  socket.ev.on("contacts.update", onContacts)
  socket.ev.on("lid-mapping.update", (mapping) => onPeople([mappedPerson(mapping)]))
  socket.ev.on(
    "messaging-history.set",
    ({ contacts, lidPnMappings = [] }) => onPeople([...contacts.map(personOf), ...lidPnMappings.map(mappedPerson)])
  )
}

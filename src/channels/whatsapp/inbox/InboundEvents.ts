import { Effect, Option } from "effect"
import { type DomainEvent, domainEvent, Events } from "../../../events/Events.ts"
import { transaction } from "../../../platform/database/transaction.ts"
import type { AccountId, MessageId, WhatsAppSessionId } from "../../../values/Ids.ts"
import type { Timestamp } from "../../../values/Timestamp.ts"
import type { Owned } from "../credentials/CredentialsRepo.ts"
import { makeContactsRepo } from "../directory/ContactsRepo.ts"
import { makeGroupsRepo } from "../directory/GroupsRepo.ts"
import { mergePeople } from "../directory/mergePeople.ts"
import type { Person } from "../socket/WhatsAppSocket.ts"
import type { Author } from "./inboundEnvelope.ts"
import type { InboundMessage } from "./inboundMessage.ts"
import { makeInboxRepo, type ToldRow } from "./InboxRepo.ts"

interface Item {
  readonly id: number
  readonly chat: string
  readonly whatsappId: string
}

/** A message that waits to be told of. */
export interface MessageItem extends Item {
  readonly kind: "message"
  readonly author: Author
  readonly isGroup: boolean
  readonly pushName: string | undefined
  readonly sentAt: number | undefined
  readonly message: InboundMessage
  readonly hasFile: boolean
}

/** A change of a group's members that waits to be told of. */
export interface MembersItem extends Item {
  readonly kind: "group"
  readonly action: "add" | "remove"
  readonly actor: Author
  readonly members: ReadonlyArray<Author>
}

/** Something in the inbox, opened; `nothing` where there is nothing to tell. */
export type InboxItem = MessageItem | MembersItem | (Item & { readonly kind: "nothing" })

/** Everybody an item speaks of. */
export const authorsOf = (item: InboxItem): ReadonlyArray<Author> =>
  item.kind === "message" ? [item.author] : item.kind === "group" ? [item.actor, ...item.members] : []

interface Work {
  readonly owned: Owned
  readonly items: ReadonlyArray<InboxItem>
  /** Numbers (digits) by hidden number, as far as they are known. */
  readonly phones: ReadonlyMap<string, string>
}

const plus = (digits: string | undefined) => digits === undefined ? null : `+${digits}`

/** Makes messages and events of what is in the inbox, in one transaction; false where there is another owner. */
export const makeInboxTeller = Effect.gen(function*() {
  const events = yield* Events
  const repo = yield* makeInboxRepo
  const contacts = yield* makeContactsRepo
  const groups = yield* makeGroupsRepo

  const numberOf = ({ lid, phone }: Author, phones: Work["phones"]) => phone ?? phones.get(lid ?? "")

  const peopleOf = ({ items, phones }: Work): ReadonlyArray<Person> =>
    items.flatMap((item) =>
      authorsOf(item).map((author) => ({
        lid: author.lid,
        phone: numberOf(author, phones),
        name: item.kind === "message" ? item.pushName : undefined,
        isNamed: false
      }))
    )

  const rowOf = (
    { author, chat, id, isGroup, hasFile, message, sentAt }: MessageItem,
    { own, phones, references }: {
      readonly own: string | undefined
      readonly phones: Work["phones"]
      readonly references: ReadonlyMap<string, MessageId>
    }
  ): ToldRow => {
    const referred = message.refersTo === undefined ? undefined : references.get(message.refersTo) ?? null
    const reference = message.refersTo === undefined
      ? {}
      : message.type === "reaction" || message.type === "edit"
      ? { message_id: referred ?? null }
      : { reply_to: referred ?? null }
    return {
      id,
      sender: plus(numberOf(author, phones)),
      recipient: isGroup ? chat : plus(own) ?? "",
      type: message.type,
      content: JSON.stringify({ ...message.content, ...reference }),
      sent_at: sentAt ?? null,
      keeps_payload: hasFile
    }
  }

  /** The groups that are spoken of, by their WhatsApp id. */
  const groupIds = Effect.fnUntraced(function*(id: WhatsAppSessionId, items: Work["items"]) {
    const jids = items.filter((item) => item.kind === "group" || (item.kind === "message" && item.isGroup))
    const rows = yield* groups.ensure(id, [...new Set(jids.map(({ chat }) => chat))])
    return new Map(rows.map((row) => [row.jid, row.id]))
  })

  const received = (
    { author, chat, isGroup }: MessageItem,
    { group, message_id, received_at, row, to }: {
      readonly row: ToldRow
      readonly to: { readonly accountId: AccountId; readonly sessionId: WhatsAppSessionId }
      readonly message_id: MessageId
      readonly received_at: Timestamp
      readonly group: ReadonlyMap<string, number>
    }
  ): DomainEvent =>
    domainEvent({
      accountId: to.accountId,
      event: "message.received",
      channel: "whatsapp",
      data: {
        channel: "whatsapp",
        message_id,
        session_id: to.sessionId,
        from: row.sender,
        lid: row.sender === null ? author.lid ?? null : null,
        group_id: isGroup ? group.get(chat) ?? null : null,
        type: row.type,
        // It was made of a content just now.
        content: JSON.parse(row.content) as InboundMessage["content"],
        received_at
      }
    })

  const changed = (
    { action, actor, chat, members }: MembersItem,
    { accountId, group, phones, sessionId }: {
      readonly accountId: AccountId
      readonly sessionId: WhatsAppSessionId
      readonly phones: Work["phones"]
      readonly group: ReadonlyMap<string, number>
    }
  ): ReadonlyArray<DomainEvent> => {
    const by = plus(numberOf(actor, phones))
    return members.map((member) => {
      const data = {
        session_id: sessionId,
        group_id: group.get(chat) ?? 0,
        participant: plus(numberOf(member, phones))
      }
      return action === "add"
        ? domainEvent({ accountId, event: "group.participant_added", data: { ...data, added_by: by } })
        : domainEvent({ accountId, event: "group.participant_removed", data: { ...data, removed_by: by } })
    })
  }

  return Effect.fnUntraced(function*(work: Work) {
    const { items, owned: { id: sessionId }, phones } = work
    const session = Option.getOrUndefined(yield* Effect.orDie(repo.hold(work.owned)))
    if (session === undefined) return false
    const own = session.phone_number ?? undefined
    const accountId = session.account_id
    yield* Effect.orDie(contacts.learn(sessionId, mergePeople(peopleOf(work))))
    const messages = items.filter((item): item is MessageItem =>
      item.kind === "message" && (own === undefined || numberOf(item.author, phones) !== own)
    )
    const changes = items.filter((item): item is MembersItem => item.kind === "group")
    const group = yield* Effect.orDie(groupIds(sessionId, [...messages, ...changes]))
    const ids = messages.flatMap(({ message: { refersTo } }) => refersTo ?? [])
    const named = ids.length === 0 ? [] : yield* Effect.orDie(repo.named({ sessionId, ids }))
    const references = new Map(named.map((row) => [row.whatsapp_id, row.message_id]))
    const rows = new Map(messages.map((item) => [item.id, { item, row: rowOf(item, { own, phones, references }) }]))
    const told = rows.size === 0
      ? []
      : yield* Effect.orDie(repo.tell({ accountId, sessionId, rows: [...rows.values()].map(({ row }) => row) }))
    const rest = items.filter(({ id }) => !rows.has(id)).map(({ id }) => id)
    if (rest.length > 0) yield* Effect.orDie(repo.drop(rest))
    yield* events.publish([
      ...told.flatMap(({ id, message_id, received_at }) => {
        const found = rows.get(id)
        const to = { accountId, sessionId }
        return found === undefined
          ? []
          : [received(found.item, { row: found.row, to, message_id, received_at, group })]
      }),
      ...changes.flatMap((item) => changed(item, { accountId, sessionId, phones, group }))
    ])
    return true
  }, transaction)
})

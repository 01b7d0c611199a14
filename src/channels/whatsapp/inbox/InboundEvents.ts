import { Effect, Option } from "effect"
import { type DomainEvent, domainEvent, Events } from "../../../events/Events.ts"
import type { MessageContent } from "../../../messages/Message.ts"
import { Database } from "../../../platform/database/Database.ts"
import type { AccountId, MessageId, WhatsAppSessionId } from "../../../values/Ids.ts"
import type { Timestamp } from "../../../values/Timestamp.ts"
import { ContactsRepo } from "../directory/ContactsRepo.ts"
import { GroupsRepo } from "../directory/GroupsRepo.ts"
import type { OwnedSession } from "../model/Session.ts"
import type { Person } from "../socket/WhatsAppSocket.ts"
import type { Author } from "./inboundEnvelope.ts"
import { authorsOf, type InboxItem, type MembersItem, type MessageItem } from "./InboxItem.ts"
import { InboxRepo } from "./InboxRepo.ts"

interface Batch {
  readonly owned: OwnedSession
  readonly items: ReadonlyArray<InboxItem>
  /** Phone numbers (digits) by hidden number, as far as they are known. */
  readonly phones: ReadonlyMap<string, string>
}

/** The facts that the rows and events of a batch share. */
interface Facts {
  readonly accountId: AccountId
  readonly sessionId: WhatsAppSessionId
  /** The session's own number, digits only. */
  readonly ownNumber: string | undefined
  readonly phones: Batch["phones"]
  /** The ids of groups by their WhatsApp id. */
  readonly groups: ReadonlyMap<string, number>
  /** The ids of messages by their chat and WhatsApp id. */
  readonly references: ReadonlyMap<string, MessageId>
}

const withPlus = (digits: string | undefined) => digits === undefined ? null : `+${digits}`

const numberOf = ({ lid, phone }: Author, phones: Batch["phones"]) => phone ?? phones.get(lid ?? "")

const peopleIn = ({ items, phones }: Batch): ReadonlyArray<Person> =>
  items.flatMap((item) =>
    authorsOf(item).map((author) => ({
      lid: author.lid,
      phone: numberOf(author, phones),
      name: item.kind === "message" ? item.pushName : undefined,
      isNamed: false
    }))
  )

/** The names that the message may have to which another one refers. A chat is known by a phone number at first. */
const namesReferredTo = ({ author, chat, isGroup, message: { refersTo, refersToGroup } }: MessageItem) => {
  if (refersTo === undefined) return []
  const chats = [chat, isGroup ? undefined : refersToGroup ?? (author.phone && `${author.phone}@s.whatsapp.net`)]
  return chats.flatMap((name) => name === undefined ? [] : [{ chat: name, whatsapp_id: refersTo }])
}

const keyOf = ({ chat, whatsapp_id }: { readonly chat: string; readonly whatsapp_id: string }) =>
  `${whatsapp_id}|${chat}`

/** The content of a message, with the API's id of the message that it refers to. */
const contentOf = (item: MessageItem, { references }: Facts): MessageContent => {
  const { content, refersTo, type } = item.message
  if (refersTo === undefined) return content
  const id = namesReferredTo(item).map((name) => references.get(keyOf(name))).find((found) => found !== undefined) ??
    null
  return type === "reaction" || type === "edit" ? { ...content, message_id: id } : { ...content, reply_to: id }
}

const rowOf = (item: MessageItem, content: MessageContent, { ownNumber, phones }: Facts) => ({
  id: item.id,
  sender: withPlus(numberOf(item.author, phones)),
  recipient: item.isGroup ? item.chat : withPlus(ownNumber) ?? "",
  type: item.message.type,
  content: JSON.stringify(content),
  sent_at: item.sentAt ?? null,
  keeps_payload: item.message.hasFile
})

const messageReceived = (
  { author, chat, isGroup, message }: MessageItem,
  stored: { readonly content: MessageContent; readonly message_id: MessageId; readonly received_at: Timestamp },
  { accountId, groups, phones, sessionId }: Facts
): DomainEvent => {
  const from = withPlus(numberOf(author, phones))
  return domainEvent({
    accountId,
    event: "message.received",
    channel: "whatsapp",
    data: {
      channel: "whatsapp",
      message_id: stored.message_id,
      session_id: sessionId,
      from,
      lid: from === null ? author.lid ?? null : null,
      group_id: isGroup ? groups.get(chat) ?? null : null,
      type: message.type,
      content: stored.content,
      received_at: stored.received_at
    }
  })
}

const membersChanged = (
  { action, actor, chat, members }: MembersItem,
  { accountId, groups, phones, sessionId }: Facts
): ReadonlyArray<DomainEvent> => {
  const by = withPlus(numberOf(actor, phones))
  return members.map((member) => {
    const data = {
      session_id: sessionId,
      group_id: groups.get(chat) ?? 0,
      participant: withPlus(numberOf(member, phones))
    }
    return action === "add"
      ? domainEvent({ accountId, event: "group.participant_added", data: { ...data, added_by: by } })
      : domainEvent({ accountId, event: "group.participant_removed", data: { ...data, removed_by: by } })
  })
}

/** Stores inbound messages and publishes the events of a session's inbox. */
export const make = Effect.gen(function*() {
  const { transaction } = yield* Database
  const events = yield* Events
  const repo = yield* InboxRepo
  const contacts = yield* ContactsRepo
  const groups = yield* GroupsRepo

  const groupIds = Effect.fnUntraced(function*(id: WhatsAppSessionId, items: ReadonlyArray<InboxItem>) {
    const inGroups = items.filter((item) => item.kind === "group" || (item.kind === "message" && item.isGroup))
    const rows = yield* groups.ensure(id, [...new Set(inGroups.map(({ chat }) => chat))])
    return new Map(rows.map((row) => [row.jid, row.id]))
  })

  const referencesOf = Effect.fnUntraced(function*(id: WhatsAppSessionId, items: ReadonlyArray<MessageItem>) {
    const names = items.flatMap(namesReferredTo)
    const rows = names.length === 0 ? [] : yield* repo.messageIds({ sessionId: id, names })
    const [received, sent] = [rows.filter((row) => row.is_received), rows.filter((row) => !row.is_received)]
    return new Map([...sent, ...received].map((row) => [keyOf(row), row.message_id]))
  })

  /** Turns rows into messages. A row that is done already is left out, so each message gets one event. */
  const storeMessages = Effect.fnUntraced(function*(messages: ReadonlyArray<MessageItem>, facts: Facts) {
    const drafts = new Map(messages.map((item) => [item.id, { item, content: contentOf(item, facts) }]))
    const { accountId, sessionId } = facts
    const rows = [...drafts.values()].map(({ content, item }) => rowOf(item, content, facts))
    const stored = rows.length === 0 ? [] : yield* repo.storeMessages({ accountId, sessionId, rows })
    return stored.flatMap(({ id, message_id, received_at }) => {
      const draft = drafts.get(id)
      return draft === undefined
        ? []
        : [messageReceived(draft.item, { content: draft.content, message_id, received_at }, facts)]
    })
  })

  return {
    /**
     * Publishes the items in one transaction. False if the session has another owner by now. A repetition publishes nothing,
     * as after a commit whose answer was lost.
     */
    publish: Effect.fn("InboundEvents.publish")(function*(batch: Batch) {
      const { items, owned: { id: sessionId }, phones } = batch
      const session = Option.getOrUndefined(yield* repo.lockSession(batch.owned))
      if (session === undefined) return false
      const ownNumber = session.phone_number ?? undefined
      yield* contacts.learn(sessionId, peopleIn(batch))
      const messages = items.filter((item): item is MessageItem =>
        item.kind === "message" && (ownNumber === undefined || numberOf(item.author, phones) !== ownNumber)
      )
      const changes = items.filter((item): item is MembersItem => item.kind === "group")
      const facts = {
        accountId: session.account_id,
        sessionId,
        ownNumber,
        phones,
        groups: yield* groupIds(sessionId, [...messages, ...changes]),
        references: yield* referencesOf(sessionId, messages)
      }
      const received = yield* storeMessages(messages, facts)
      const stored = new Set(messages.map(({ id }) => id))
      const others = items.filter(({ id }) => !stored.has(id)).map(({ id }) => id)
      const dropped = new Set((others.length === 0 ? [] : yield* repo.drop(others)).map(({ id }) => id))
      const changed = changes.filter(({ id }) => dropped.has(id)).flatMap((item) => membersChanged(item, facts))
      yield* events.publish([...received, ...changed])
      return true
    }, transaction)
  }
})

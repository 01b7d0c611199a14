import { DateTime, Effect, Layer } from "effect"
import { type SandboxFilter, type SandboxMessage, SandboxMessages } from "../../messages/SandboxMessage.ts"
import type { AccountId } from "../../values/Ids.ts"
import type { Window } from "../../values/Page.ts"
import { fromDateTime } from "../../values/Timestamp.ts"
import { readMail } from "../mail/readMail.ts"
import { makeWaitFor } from "../pages/waitFor.ts"
import type { MessageView } from "../whatsapp/control/MessageView.ts"
import { SimulatedWhatsApp } from "../whatsapp/SimulatedWhatsApp.ts"
import { phoneOf } from "../whatsapp/TestSessions.ts"
import { maxListed, TestMessagesRepo } from "./TestMessagesRepo.ts"

const empty = { subject: null, html: null, headers: [], links: [], attachments: [], mode: "test" } as const

/** A message in the order of the list. The content of a mail is read only for the page that shows it. */
type Listed =
  & Pick<SandboxMessage, "id" | "received_at">
  & ({ readonly mail: number } | { readonly message: SandboxMessage })

const isAfter = ({ id, received_at }: Listed, after: Window["after"]) => {
  if (after === null) return true
  const [time, last] = after
  return received_at < String(time) || (received_at === String(time) && id < String(last))
}

const newestFirst = (a: Listed, b: Listed) =>
  a.received_at === b.received_at ? (a.id < b.id ? 1 : -1) : a.received_at < b.received_at ? 1 : -1

const smsOf = ({ id, ...sms }: Pick<SandboxMessage, "from" | "to" | "received_at"> & {
  readonly id: number
  readonly text: string
}): SandboxMessage => ({ ...empty, ...sms, id: `sms_${id}`, channel: "sms", type: "sms" })

const chatOf = ({ at, chat, file, from, id, text, type }: MessageView): SandboxMessage => ({
  ...empty,
  id: `whatsapp_${id}`,
  channel: "whatsapp",
  type,
  from: `+${from}`,
  to: chat.includes("@") ? chat : `+${chat}`,
  text,
  attachments: file === null ? [] : [{ name: file.name ?? "file", type: file.type, size: 0, content: null }],
  received_at: fromDateTime(DateTime.makeUnsafe(at))
})

/** In a query a bare + is a space. */
const numberOf = (to: string) => /^\s?\+?\d+$/.test(to) ? to.replace(/^[\s+]*/, "+") : to

const makeChats = Effect.gen(function*() {
  const repo = yield* TestMessagesRepo
  const { control } = yield* SimulatedWhatsApp
  // Without a session nothing starts the simulator.
  const ofPhones = <A>(accountId: AccountId, none: A, ask: (numbers: ReadonlyArray<string>) => Effect.Effect<A>) =>
    Effect.flatMap(
      repo.sessions(accountId),
      (sessions) => sessions.length === 0 ? Effect.succeed(none) : ask(sessions.map(({ id }) => phoneOf(id)))
    )
  return {
    list: (accountId: AccountId, to: string) =>
      ofPhones<ReadonlyArray<SandboxMessage>>(accountId, [], (numbers) =>
        control("messagesOf", numbers).pipe(
          Effect.orDie,
          Effect.map((messages) =>
            messages.filter(({ from }) => numbers.includes(from)).map(chatOf).filter((chat) => chat.to.includes(to))
              .slice(-maxListed)
          )
        )),
    clear: (accountId: AccountId) => ofPhones(accountId, 0, (numbers) => Effect.orDie(control("clearChats", numbers)))
  }
})

/** What the sandbox received from test accounts, on all channels. */
export const TestMessages = Layer.effect(
  SandboxMessages,
  Effect.gen(function*() {
    const repo = yield* TestMessagesRepo
    const chats = yield* makeChats
    const waitFor = yield* makeWaitFor

    const listed = Effect.fnUntraced(function*(accountId: AccountId, { channel, to: asked = "" }: SandboxFilter) {
      const to = numberOf(asked)
      const wants = (name: SandboxMessage["channel"]) => channel === undefined || channel === name
      const mails = wants("email") ? yield* repo.mails({ accountId, to: asked }) : []
      const others = [
        ...(wants("sms") ? (yield* repo.sms({ accountId, to })).map(smsOf) : []),
        ...(wants("whatsapp") ? yield* chats.list(accountId, to) : [])
      ]
      const all: ReadonlyArray<Listed> = [
        ...mails.map(({ id, received_at }) => ({ id: `email_${id}`, received_at, mail: id })),
        ...others.map((message) => ({ id: message.id, received_at: message.received_at, message }))
      ]
      return all.toSorted(newestFirst)
    })

    const withContent = Effect.fnUntraced(function*(accountId: AccountId, rows: ReadonlyArray<Listed>) {
      const ids = rows.flatMap((row) => "mail" in row ? [row.mail] : [])
      const raw = new Map((yield* repo.rawMails({ accountId, ids })).map((mail) => [mail.id, mail]))
      return yield* Effect.forEach(rows, (row) =>
        Effect.gen(function*() {
          if ("message" in row) return [row.message]
          const mail = raw.get(row.mail)
          if (mail === undefined) return []
          const { attachments, headers, html, links, text } = yield* readMail(mail.raw)
          const { from, is_whole, subject, to } = mail
          const message: SandboxMessage = {
            ...empty,
            id: row.id,
            channel: "email",
            type: "email",
            from,
            to,
            subject,
            text: text ?? null,
            html: html ?? null,
            headers,
            links,
            attachments: attachments.map(({ content, name, type }) => ({
              name,
              type,
              size: is_whole ? content.length : 0,
              content: is_whole ? Buffer.from(content).toString("base64") : null
            })),
            received_at: row.received_at
          }
          return [message]
        }))
    })

    return SandboxMessages.of({
      list: Effect.fn("TestMessages.list")(function*(accountId, filter, { after, limit, offset }) {
        const all = yield* waitFor(listed(accountId, filter), {
          seconds: filter.wait,
          isFound: (rows) => rows.length > 0
        })
        const rows = all.filter((row) => isAfter(row, after)).slice(offset, offset + limit)
        return { rows: (yield* withContent(accountId, rows)).flat(), total: all.length }
      }),
      clear: Effect.fn("TestMessages.clear")(function*(accountId) {
        return (yield* repo.clear(accountId)).deleted + (yield* chats.clear(accountId))
      })
    })
  })
).pipe(Layer.provide(TestMessagesRepo.layer))

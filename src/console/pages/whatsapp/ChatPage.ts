import { Effect, Schema } from "effect"
import { ChatName, isGroup } from "../../../channels/whatsapp/content/MessageContent.ts"
import { MessagesApi } from "../../../channels/whatsapp/outbox/MessagesApi.ts"
import type { Message } from "../../../messages/Message.ts"
import { Messages } from "../../../messages/Messages.ts"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import { type Html, html } from "../../../platform/http/html.ts"
import { Action, goTo } from "../../page/Action.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { cursorsAround, pageOf, positionIn } from "../../page/cursor.ts"
import { Field } from "../../page/Field.ts"
import { Page } from "../../page/Page.ts"
import { form } from "../../ui/form.ts"
import { code, emptyState, foreign, linkButton, moment, note } from "../../ui/parts.ts"
import { pager } from "../../ui/table.ts"
import { fileLine, filesKept } from "../messages/FilePage.ts"
import { senderOf, statusBadge } from "../messages/messageParts.ts"
import { sessionCrumbs, sessionIn } from "./sessionParts.ts"

const perPage = 50

const decodeChat = Schema.decodeUnknownEffect(ChatName)

/**
 * A reaction stands below its message, if that is on the page. Of several from one person, the last one counts, and an empty
 * one removes it.
 */
const threadOf = (newestFirst: ReadonlyArray<Message>) => {
  const ids = new Set<number>(newestFirst.map(({ id }) => id))
  const reactions = new Map<number, Map<string, string>>()
  const thread = newestFirst.toReversed().filter(({ content, direction, from, type }) => {
    const target = Number(content?.["message_id"])
    if (type !== "reaction" || !ids.has(target)) return true
    const given = reactions.get(target) ?? new Map<string, string>()
    const person = direction === "in" ? from ?? "hidden" : "account"
    reactions.set(target, given.set(person, String(content?.["emoji"] ?? "")))
    return false
  })
  return { thread, reactionsOf: (id: number) => [...reactions.get(id)?.values() ?? []].filter(Boolean).join(" ") }
}

const bubble = (ask: AccountAsk, message: Message, { file, reactions }: { file: Html | false; reactions: string }) => {
  const { content, created_at, direction, from, id, status, to, type } = message
  const author = direction === "in" && isGroup(to) && html`${senderOf(ask, from)} · `
  const body = content === null ? ask.t.text("message.gone") : content.body
  return html`<li class="received whatsapp${direction === "out" && " sent"}"><p class="quiet">${author}<a href="${
    ask.to(`/messages/whatsapp/${id}`)
  }">${moment(ask, created_at)}</a> ${statusBadge(ask, status)}${
    type !== "text" && file === false && html` ${code(type)}`
  }</p>${file}${body !== "" && html`<p class="words">${foreign(body)}</p>`}${
    reactions !== "" && html`<p>${foreign(reactions)}</p>`
  }</li>`
}

const reply = Action.make({
  name: "reply",
  endpoint: MessagesApi.endpoints.send,
  fields: { content: Field.textarea({ label: "messages.text" }) },
  request: ({ content }, { params }) => ({
    payload: { session_id: Number(params["id"]), to: params["phone"], type: "text", content: { body: content ?? "" } }
  }),
  after: (_, { ask }) => goTo(ask.path, "chat.sent")
})

/** The messages of a session with one number, as a conversation. */
export const chatPage = Page.account({
  path: "/whatsapp/:id/chats/:phone",
  permission: "messages:read",
  read: (ask) =>
    Effect.gen(function*() {
      const session = yield* sessionIn(ask)
      const chat = yield* Effect.mapError(decodeChat(ask.params["phone"]), () => new NotFound())
      const { rows } = yield* (yield* Messages).list(
        { accountId: ask.accountId, channel: "whatsapp" },
        { chat, session_id: session.id, sort: "-created_at" },
        { limit: perPage + 1, offset: 0, after: positionIn(ask, Schema.Tuple([Schema.Int])) }
      )
      return { chat, session, kept: yield* filesKept(ask, rows), page: pageOf(rows, perPage, ({ id }) => [id]) }
    }),
  draw: ({ chat, kept, page: { older, rows }, session }, ask) => {
    const { can, path, query, t } = ask
    const isNewest = !query.has("cursor")
    const { reactionsOf, thread } = threadOf(rows)
    return {
      title: t.text("chat.title", { name: chat }),
      isLive: isNewest,
      crumbs: sessionCrumbs(ask, session),
      curl: `/v1/whatsapp/messages?${new URLSearchParams({ session_id: String(session.id), chat })}`,
      buttons: linkButton(path, t.text("message.refresh"), { icon: "refresh-cw" }),
      content: html`<div class="stack">${pager(ask, cursorsAround(ask, older))}
${
        thread.length === 0
          ? emptyState({ icon: "message-circle", title: t.text("chat.empty.title"), text: t.text("chat.empty.text") })
          : html`<ol class="inbox chat" aria-label="${t.text("chat.label")}">${
            thread.map((message) =>
              bubble(ask, message, { file: fileLine(ask, message, kept), reactions: reactionsOf(message.id) })
            )
          }</ol>`
      }
${
        can("messages:write") && isNewest && (session.status === "connected" || ask.attempt !== undefined
          ? form(ask, reply, { submit: t.text("chat.reply") })
          : note(t.text("chat.notConnected"), "warn"))
      }</div>`
    }
  },
  actions: [reply]
})

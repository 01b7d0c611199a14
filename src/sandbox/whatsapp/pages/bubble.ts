import { type Html, html } from "../../../platform/http/html.ts"
import { parts } from "../../pages/SandboxAccess.ts"
import * as shown from "../../pages/shown.ts"
import type { MessageView } from "../control/MessageView.ts"
import { formatted } from "./formatted.ts"

const { path } = parts.phones

/** The messages of one chat of a phone, oldest first. */
interface ChatView {
  readonly number: string
  readonly messages: ReadonlyArray<MessageView>
  /** The name of a number. */
  readonly person: (number: string) => string
  readonly isGroup: boolean
}

/** The newest messages that a page shows. */
const maxShown = 200

const emojis = ["👍", "❤️", "😂", "😮", "😢", "🙏"]

/** The last reaction of each person to each message. */
const reactionsOf = (messages: ReadonlyArray<MessageView>) => {
  const given = new Map<string, Map<string, string>>()
  for (const { from, reactionTo, text } of messages) {
    if (reactionTo === null) continue
    const people = given.get(reactionTo) ?? new Map<string, string>()
    people.set(from, text ?? "")
    given.set(reactionTo, people)
  }
  return given
}

const ticks = { sent: "✓", delivered: "✓✓", read: "✓✓", received: "" } as const

const media = (number: string, { file, id }: MessageView): Html | false => {
  if (file === null) return false
  const url = `${path}/${number}/media/${encodeURIComponent(id)}`
  if (file.type.startsWith("image/")) return html`<a href="${url}"><img src="${url}" alt="Picture of this message"></a>`
  if (file.type.startsWith("video/")) return html`<video src="${url}" controls preload="metadata"></video>`
  if (file.type.startsWith("audio/")) return html`<audio src="${url}" controls preload="metadata"></audio>`
  return html`<a class="file" href="${url}" download>${file.name ?? "File"} <span class="quiet">${file.type}</span></a>`
}

const names: Readonly<Record<string, string>> = {
  contactMessage: "Contact",
  locationMessage: "Location",
  pollCreationMessage: "Poll",
  pollCreationMessageV3: "Poll"
}

const actions = (number: string, { chat, id }: MessageView) =>
  html`<details class="react" id="react-${id}"><summary><span class="hidden">React or reply</span>⋯</summary>
<form method="post" action="${path}/${number}/react"><input type="hidden" name="message" value="${id}"><input type="hidden" name="chat" value="${chat}">${
    emojis.map((emoji) =>
      html`<button name="emoji" value="${emoji}" aria-label="React with ${emoji}">${emoji}</button>`
    )
  }<button name="emoji" value="" aria-label="Remove the reaction">✕</button></form>
<a href="${path}/${number}?chat=${encodeURIComponent(chat)}&reply=${encodeURIComponent(id)}">Reply</a></details>`

const bubble = ({ isGroup, messages, number, person }: ChatView) => {
  const byId = new Map(messages.map((message) => [message.id, message]))
  const reactions = reactionsOf(messages)
  return (message: MessageView): Html => {
    const { at, from, id, options, quote, status, text, type } = message
    const isOwn = from === number
    const given = [...reactions.get(id) ?? []].filter(([, emoji]) => emoji !== "")
    const label = names[type] ?? (text === null && message.file === null ? type.replace("Message", "") : undefined)
    return html`<li class="${isOwn ? "own" : "other"}"><div class="bubble">${
      isGroup && !isOwn && html`<b class="author">${person(from)}</b>`
    }${quote !== null && html`<blockquote>${byId.get(quote.id)?.text ?? quote.text ?? "A message"}</blockquote>`}${
      media(number, message)
    }${label !== undefined && html`<span class="kind">${label}</span>`}${
      text !== null && html`<p>${formatted(text)}</p>`
    }${options.length > 0 && html`<ul class="options">${options.map((option) => html`<li>${option}</li>`)}</ul>`}
<span class="state">${shown.timeOf(at)}${
      isOwn &&
      html` <span class="ticks ${status}" title="${status}">${
        ticks[status]
      }<span class="hidden"> ${status}</span></span>`
    }</span>${
      given.length > 0 && html`<span class="reactions">${
        given.map(([who, emoji]) => html`<span title="${person(who)}">${emoji}</span>`)
      }</span>`
    }</div>${actions(number, message)}</li>
`
  }
}

/** The messages of a chat as bubbles, with the reactions to them. */
export const bubbles = (chat: ChatView): ReadonlyArray<Html> =>
  chat.messages.filter(({ reactionTo }) => reactionTo === null).slice(-maxShown).map(bubble(chat))

import { Html, html } from "../../../platform/http/html.ts"
import type { Page } from "../../pages/LocalPage.ts"
import { parts } from "../../pages/SandboxAccess.ts"
import * as shown from "../../pages/shown.ts"
import type { PhoneView, SessionView } from "../control/Controls.ts"
import type { MessageView } from "../control/MessageView.ts"
import { isGroupJid } from "../model/Address.ts"
import type { Group } from "../model/Groups.ts"
import { bubbles } from "./bubble.ts"
import { deviceRow, groupRow, nameOf, postForm, problemCard, rowsOr } from "./PhonesPage.ts"

const { path } = parts.phones

/** The content of the page of one phone. Messages are oldest first. */
export interface PhoneDetail {
  readonly phone: PhoneView
  readonly messages: ReadonlyArray<MessageView>
  readonly devices: ReadonlyArray<SessionView>
  readonly groups: ReadonlyArray<Group>
  /** The other phones, as recipients to choose from. */
  readonly others: ReadonlyArray<PhoneView>
}

/** The chat that the page shows, and the message that the next one answers. */
export interface ShownChat {
  readonly chat: string | null
  readonly reply: string | null
}

/** Names of chats and of people. */
const makeNames = ({ groups, others, phone }: PhoneDetail) => {
  const known = new Map([...others, phone].map((one) => [one.number, nameOf(one)]))
  const person = (number: string) => known.get(number) || number
  return {
    person,
    chat: (chat: string) =>
      isGroupJid(chat) ? groups.find(({ id }) => id === chat)?.subject ?? "A group that the phone left" : person(chat)
  }
}

type Names = ReturnType<typeof makeNames>

/** The chats, the one with the newest message first. */
const chatsOf = (messages: ReadonlyArray<MessageView>) =>
  [...Map.groupBy(messages.toReversed(), ({ chat }) => chat)].map(([chat, newest]) => ({
    chat,
    last: newest.find(({ reactionTo }) => reactionTo === null)
  }))

const chatLink =
  (number: string, names: Names, current: string | null) => ({ chat, last }: ReturnType<typeof chatsOf>[number]) =>
    html`<li><a href="${path}/${number}?chat=${encodeURIComponent(chat)}"${
      chat === current && new Html(" aria-current=\"page\"")
    }><b>${names.chat(chat)}</b>${
      last !== undefined &&
      html`<span class="when">${shown.timeOf(last.at)}</span><span class="last quiet">${
        last.text ?? last.type.replace("Message", "")
      }</span>`
    }</a></li>
`

const composer = (number: string, chat: string, answered: MessageView | undefined) =>
  html`${
    answered !== undefined &&
    html`<p class="answered"><span>Reply to: ${answered.text ?? "a message"}</span> <a href="${path}/${number}?chat=${
      encodeURIComponent(chat)
    }">Cancel</a></p>`
  }
<div class="composer">${
    postForm(
      `/${number}/send`,
      html`<input type="hidden" name="to" value="${chat}"><input type="hidden" name="reply" value="${answered?.id}">
<input class="wide" name="text" placeholder="Message" aria-label="Message" required autocomplete="off"${
        answered !== undefined && new Html(" autofocus")
      }><button class="main">Send</button>`
    )
  }
<details class="menu up" id="attach"><summary>File</summary><form method="post" enctype="multipart/form-data" action="${path}/${number}/files">
<input type="hidden" name="to" value="${chat}"><input type="file" name="file" aria-label="File" required>
<input name="caption" placeholder="Caption" aria-label="Caption" autocomplete="off"><button>Send the file</button></form></details></div>`

const chatCard = (detail: PhoneDetail, names: Names, { chat, reply }: ShownChat) => {
  const { messages, phone: { number } } = detail
  if (chat === null) {
    return html`<div class="chat card"><p class="quiet none">Messages to this phone appear here.</p></div>`
  }
  const own = messages.filter((message) => message.chat === chat)
  const answered = own.find(({ id, reactionTo }) => id === reply && reactionTo === null)
  return html`<article class="chat card"><h2><a class="back" href="${path}/${number}">←<span class="hidden"> All chats</span></a> ${
    names.chat(chat)
  }</h2>
<ol class="messages" id="messages" data-live data-end tabindex="0" aria-label="Messages">${
    bubbles({ number, messages: own, person: names.person, isGroup: isGroupJid(chat) })
  }</ol>
${composer(number, chat, answered)}</article>`
}

const newChat = (number: string) =>
  postForm(
    `/${number}/send`,
    html`<input name="to" list="chats" placeholder="Number or group" aria-label="Number or group" required
autocomplete="off"><input class="wide" name="text" placeholder="Message" aria-label="First message" required autocomplete="off">
<button>Send</button>`,
    "new"
  )

const groupForms = (number: string) =>
  html`${
    postForm(
      `/${number}/groups`,
      html`<input name="subject" placeholder="Name of a new group" aria-label="Name of a new group" required>
<input class="wide" name="members" placeholder="Members' numbers, separated by commas"
aria-label="Members' numbers, separated by commas"><button>Create a group</button>`,
      "below"
    )
  }
${
    postForm(
      `/${number}/join`,
      html`<input class="wide" name="link" placeholder="Invite link" aria-label="Invite link" required
autocomplete="off"><button>Join</button>`,
      "below"
    )
  }`

/** The page of one phone: its chats, and one of them open. */
export const phonePage = (detail: PhoneDetail, open: ShownChat, problem?: string): Page => {
  const { devices, groups, messages, others, phone } = detail
  const { number } = phone
  const names = makeNames(detail)
  const chats = chatsOf(messages)
  const current = open.chat ?? chats[0]?.chat ?? null
  return {
    title: `${nameOf(phone)} ${number}`.trim(),
    kind: open.chat === null ? "phone" : "phone chatting",
    content: html`${problemCard(problem)}<div class="head"><a class="back" href="${path}">← All phones</a>
<h1>${number} <span class="quiet">${nameOf(phone)}</span></h1></div>
<datalist id="chats">${groups.map(({ id, subject }) => html`<option value="${id}">${subject}</option>`)}${
      others.map((other) => html`<option value="${other.number}">${nameOf(other)}</option>`)
    }</datalist>
<div class="panes"><nav class="chats card" aria-label="Chats"><h2>Chats</h2><ul id="chat-list" data-live>${
      chats.length === 0
        ? html`<li class="quiet none">No messages yet.</li>`
        : chats.map(chatLink(number, names, current))
    }</ul>
<details class="menu" id="new-chat"><summary>New chat</summary>${newChat(number)}</details></nav>
${chatCard(detail, names, { ...open, chat: current })}</div>
<section><h2>Groups</h2>${rowsOr(groups.map(groupRow), "None yet.")}${groupForms(number)}</section>
<section><h2>Linked devices</h2><div id="devices" data-live>${
      rowsOr(devices.map(deviceRow), "None yet.")
    }</div></section>`
  }
}

import type { PendingSession } from "../../channels/whatsapp/model/Session.ts"
import { type Html, html } from "../../platform/http/html.ts"
import type { MessageView, PhoneView, SessionView } from "./control/Controls.ts"
import { isGroupJid } from "./model/Address.ts"
import type { Group } from "./model/Groups.ts"
import { deviceRow, postForm, rowsOr, sandboxPhonesFrame, sandboxPhonesPath } from "./sandboxPhonesFrame.ts"

/** What the page of all phones shows. */
export interface PhonesOverview {
  readonly pending: ReadonlyArray<PendingSession>
  readonly phones: ReadonlyArray<PhoneView>
  readonly devices: ReadonlyArray<SessionView>
  readonly groups: ReadonlyArray<Group>
}

/** What the page of one phone shows: its messages oldest first, the groups it is in. */
export interface PhoneDetail {
  readonly phone: PhoneView
  readonly messages: ReadonlyArray<MessageView>
  readonly devices: ReadonlyArray<SessionView>
  readonly groups: ReadonlyArray<Group>
  /** Whom it may write to. */
  readonly others: ReadonlyArray<PhoneView>
}

/** Messages of one chat that the page has room for. */
const shown = 50

const numberField = html`<input name="number" list="phones" placeholder="15550100300" aria-label="Phone number" required
inputmode="tel" autocomplete="off">`

const pendingRow = ({ account_id, id, name, status }: PendingSession) =>
  html`<span class="what"><b>${name}</b>
<span class="quiet">session ${id} of account ${account_id}, ${status}</span></span>
${postForm("/scan", html`<input type="hidden" name="session" value="${id}">${numberField}<button>Scan</button>`)}`

const otherWays = html`<details><summary>By another way</summary>
${
  postForm(
    "/scan",
    html`<input class="wide" name="qr" placeholder="What the QR code says" aria-label="What the QR code says" required
autocomplete="off">${numberField}<button>Scan</button>`
  )
}
${
  postForm(
    "/code",
    html`<input name="code" placeholder="ABCD-1234" aria-label="Pairing code" required autocomplete="off">${numberField}
<button>Type in the pairing code</button>`,
    "below"
  )
}
</details>`

const phoneRow = ({ number, pushName }: PhoneView) =>
  html`<span class="what"><a href="${sandboxPhonesPath}/${number}">${number}</a> ${pushName}</span>`

const groupRow = ({ id, inviteCode, members, subject }: Group) =>
  html`<span class="what"><b>${subject}</b> <code>${id}</code>
<span class="quiet">${members.map(({ number }) => number).join(", ")}; link <code>${inviteCode}</code></span></span>`

const overview = ({ devices, groups, pending, phones }: PhonesOverview, problem?: string): string =>
  sandboxPhonesFrame(
    { title: "Phones", problem },
    html`<datalist id="phones">${phones.map(({ number }) => html`<option value="${number}"></option>`)}</datalist>
<section><h2>Sessions that wait for a phone</h2>
${rowsOr(pending.map(pendingRow), "None. POST /v1/whatsapp/sessions makes one.")}
${otherWays}</section>
<section><h2>Phones</h2>
${rowsOr(phones.map(phoneRow), "None yet. A number gets one when it is used for the first time.")}
${
      postForm(
        "",
        html`${numberField}<input name="name" placeholder="Name" aria-label="Name"><button>Make a phone</button>`,
        "below"
      )
    }</section>
<section><h2>Linked devices</h2>${rowsOr(devices.map(deviceRow), "No session is paired yet.")}</section>
<section><h2>Groups</h2>${rowsOr(groups.map(groupRow), "None. A phone's page makes one.")}</section>`
  )

const messageRow = (own: string) => ({ at, from, status, text, type }: MessageView) =>
  html`<li class="${from === own ? "own" : "other"}">${from !== own && html`<b>${from}</b> `}
${text ?? `(${type})`} <span class="quiet">${clock(at)}${from === own && ` · ${status}`}</span></li>
`

const clock = (millis: number) => {
  const minutes = Math.floor(millis / 60_000) % 1_440
  const two = (count: number) => String(count).padStart(2, "0")
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)} UTC`
}

const sendForm = (number: string, to: Html) =>
  postForm(
    `/${number}/send`,
    html`${to}<input class="wide" name="text" placeholder="Message" aria-label="Message" required autocomplete="off">
<button>Send</button>`
  )

/** The chat that had a message last comes first. */
const chatsOf = (messages: ReadonlyArray<MessageView>) =>
  [...Map.groupBy(messages.toReversed(), ({ chat }) => chat)].map(([chat, newest]) => ({
    chat,
    messages: newest.slice(0, shown).toReversed()
  }))

const chatCard = ({ groups, messages, phone: { number } }: PhoneDetail) => {
  const titleOf = (chat: string) => isGroupJid(chat) ? groups.find(({ id }) => id === chat)?.subject ?? chat : chat
  return chatsOf(messages).map(({ chat, messages: some }) =>
    html`<article class="card chat"><h3>${titleOf(chat)}</h3>
<ol class="messages">${some.map(messageRow(number))}</ol>
${sendForm(number, html`<input type="hidden" name="to" value="${chat}">`)}</article>
`
  )
}

const groupForms = (number: string) =>
  html`${
    postForm(
      `/${number}/groups`,
      html`<input name="subject" placeholder="Name of a new group" aria-label="Name of a new group" required>
<input class="wide" name="members" placeholder="Numbers of its members, by commas"
aria-label="Numbers of its members, by commas">
<button>Make a group</button>`,
      "below"
    )
  }
${
    postForm(
      `/${number}/join`,
      html`<input class="wide" name="link" placeholder="Link of a group" aria-label="Link of a group" required
autocomplete="off"><button>Join</button>`,
      "below"
    )
  }`

const phone = (detail: PhoneDetail, problem?: string): string => {
  const { devices, groups, others, phone: { lid, number, pushName } } = detail
  const chats = chatCard(detail)
  return sandboxPhonesFrame(
    { title: number, problem },
    html`<a class="back" href="${sandboxPhonesPath}">← All phones</a>
<div class="head"><h1>${number}</h1><span class="quiet">${pushName}, LID ${lid}</span></div>
<datalist id="chats">${groups.map(({ id, subject }) => html`<option value="${id}">${subject}</option>`)}${
      others.map((other) => html`<option value="${other.number}">${other.pushName}</option>`)
    }</datalist>
<section><h2>Chats</h2>${chats.length === 0 ? html`<p class="quiet">No messages yet.</p>` : chats}
${
      sendForm(
        number,
        html`<input name="to" list="chats" placeholder="Number or group" aria-label="Number or group" required
autocomplete="off">`
      )
    }</section>
<section><h2>Groups</h2>${rowsOr(groups.map(groupRow), "It is in no group.")}${groupForms(number)}</section>
<section><h2>Linked devices</h2>${rowsOr(devices.map(deviceRow), "None.")}</section>`
  )
}

const missing = (number: string): string =>
  sandboxPhonesFrame(
    { title: "No such phone", problem: undefined },
    html`<div class="card empty"><h1>No phone has the number ${number}</h1>
<p class="quiet"><a href="${sandboxPhonesPath}">Show all phones</a></p></div>`
  )

/** The pages of the phones as complete documents; nothing in them is unescaped but their own markup. */
export const SandboxPhonesPages = { overview, phone, missing } as const

import type { PendingSession } from "../../channels/whatsapp/model/Session.ts"
import { type Html, html } from "../../platform/http/html.ts"
import * as LocalPage from "../pages/LocalPage.ts"
import type { MessageView, PhoneView, SessionView } from "./control/Controls.ts"
import { isGroupJid } from "./model/Address.ts"
import type { Group } from "./model/Groups.ts"

/** The path of the phones' pages. */
export const sandboxPhonesSite = { name: "Sandbox phones", path: "/sandbox/phones" } as const

const sandboxPhonesPath = sandboxPhonesSite.path

/** The content of the page of all phones. */
export interface PhonesOverview {
  readonly pending: ReadonlyArray<PendingSession>
  readonly phones: ReadonlyArray<PhoneView>
  readonly devices: ReadonlyArray<SessionView>
  readonly groups: ReadonlyArray<Group>
}

/** The content of the page of one phone. Messages are oldest first. */
export interface PhoneDetail {
  readonly phone: PhoneView
  readonly messages: ReadonlyArray<MessageView>
  readonly devices: ReadonlyArray<SessionView>
  readonly groups: ReadonlyArray<Group>
  /** The other phones, as recipients to choose from. */
  readonly others: ReadonlyArray<PhoneView>
}

/** The newest messages that the page shows of one chat. */
const maxShown = 50

/** The reason of a refused request, above the page of its form. */
const problemCard = (problem: string | undefined) =>
  problem !== undefined && html`<p class="card problem" role="alert">${problem}</p>
`

const page = (title: string, content: Html, problem?: string): string =>
  LocalPage.document(
    { title, site: sandboxPhonesSite },
    html`${problemCard(problem)}${content}`
  )

/** A form that posts to a page below the phones. */
const postForm = (to: string, content: Html, kind: "" | "below" = ""): Html =>
  html`<form method="post" action="${sandboxPhonesPath}${to}" class="${kind}">${content}</form>`

/** A list of rows, or a text if there are none. */
const rowsOr = (rows: ReadonlyArray<Html>, nothing: string): Html =>
  rows.length === 0
    ? html`<p class="quiet">${nothing}</p>`
    : html`<ul class="rows card">${rows.map((row) => html`<li>${row}</li>\n`)}</ul>`

const deviceButton = (session: string, verb: "drop" | "log-out", label: string) =>
  postForm(
    `/devices/${verb}`,
    html`<input type="hidden" name="session" value="${session}"><button>${label}</button>`
  )

const deviceRow = ({ isConnected, logins, session, waiting }: SessionView): Html =>
  html`<span class="what"><code>${session}</code>
<span class="quiet">${
    isConnected ? "connected" : "not connected"
  }, logins: ${logins}, unacknowledged stanzas: ${waiting}</span></span>
${isConnected && deviceButton(session, "drop", "Drop the connection")}${deviceButton(session, "log-out", "Log out")}`

const numberField = html`<input name="number" list="phones" placeholder="15550100300" aria-label="Phone number" required
inputmode="tel" autocomplete="off">`

const pendingRow = ({ account_id, id, name, status }: PendingSession) =>
  html`<span class="what"><b>${name}</b>
<span class="quiet">session ${id} of account ${account_id}, ${status}</span></span>
${postForm("/scan", html`<input type="hidden" name="session" value="${id}">${numberField}<button>Scan</button>`)}`

const otherWays = html`<details><summary>Other ways to pair</summary>
${
  postForm(
    "/scan",
    html`<input class="wide" name="qr" placeholder="Text of the QR code" aria-label="Text of the QR code" required
autocomplete="off">${numberField}<button>Scan</button>`
  )
}
${
  postForm(
    "/code",
    html`<input name="code" placeholder="ABCD-1234" aria-label="Pairing code" required autocomplete="off">${numberField}
<button>Enter the pairing code</button>`,
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
  page(
    "Phones",
    html`<datalist id="phones">${phones.map(({ number }) => html`<option value="${number}"></option>`)}</datalist>
<section><h2>Sessions to pair</h2>
${rowsOr(pending.map(pendingRow), "None. Create one with POST /v1/whatsapp/sessions.")}
${otherWays}</section>
<section><h2>Phones</h2>
${rowsOr(phones.map(phoneRow), "None yet. A number gets a phone at its first use.")}
${
      postForm(
        "",
        html`${numberField}<input name="name" placeholder="Name" aria-label="Name"><button>Create a phone</button>`,
        "below"
      )
    }</section>
<section><h2>Linked devices</h2>${rowsOr(devices.map(deviceRow), "None yet. Pair a session first.")}</section>
<section><h2>Groups</h2>${rowsOr(groups.map(groupRow), "None yet. Open a phone's page to create one.")}</section>`,
    problem
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

/** The chat with the newest message comes first. */
const chatsOf = (messages: ReadonlyArray<MessageView>) =>
  [...Map.groupBy(messages.toReversed(), ({ chat }) => chat)].map(([chat, newest]) => ({
    chat,
    messages: newest.slice(0, maxShown).toReversed()
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
<input class="wide" name="members" placeholder="Members' numbers, separated by commas"
aria-label="Members' numbers, separated by commas">
<button>Create a group</button>`,
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

const phone = (detail: PhoneDetail, problem?: string): string => {
  const { devices, groups, others, phone: { lid, number, pushName } } = detail
  const chats = chatCard(detail)
  return page(
    number,
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
<section><h2>Groups</h2>${rowsOr(groups.map(groupRow), "None yet.")}${groupForms(number)}</section>
<section><h2>Linked devices</h2>${rowsOr(devices.map(deviceRow), "None yet.")}</section>`,
    problem
  )
}

const missing = (number: string): string =>
  page(
    "No such phone",
    html`<div class="card empty"><h1>No phone has the number ${number}</h1>
<p class="quiet"><a href="${sandboxPhonesPath}">Show all phones</a></p></div>`
  )

/** The pages of the phones as complete documents. They escape all text of messages and names. */
export const SandboxPhonesPages = { overview, phone, missing } as const

/** The rules that the pages of the phones add to the common style sheet. */
export const sandboxPhonesStyle = `
section { margin-bottom: 28px; }
section > h2, summary { font-size: 17px; margin: 0 0 10px; font-weight: 600; }
.rows { list-style: none; margin: 0; padding: 0; }
.rows li { display: flex; align-items: center; gap: 8px 14px; flex-wrap: wrap; padding: 10px 20px; }
.rows li + li { border-top: 1px solid var(--line); }
.rows .what { margin-right: auto; overflow-wrap: anywhere; }
form { display: flex; gap: 8px; flex-wrap: wrap; align-items: center; }
form.below { margin-top: 12px; }
input, select { font: inherit; color: inherit; background: var(--page); border: 1px solid var(--line); border-radius: 8px;
  padding: 6px 12px; max-width: 100%; }
input.wide { flex: 1 1 16rem; }
.problem { border-color: #d0453a; padding: 12px 20px; margin-bottom: 20px; }
.chat { padding: 14px 20px; margin-bottom: 14px; }
.chat h3 { margin: 0 0 8px; font-size: 15px; }
.messages { list-style: none; margin: 0 0 12px; padding: 0; }
.messages li { padding: 4px 0; overflow-wrap: anywhere; }
.messages .own { text-align: right; }
`

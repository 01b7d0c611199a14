import type { PendingSession } from "../../../channels/whatsapp/model/Session.ts"
import { type Html, html } from "../../../platform/http/html.ts"
import { pluralize } from "../../../values/messageText.ts"
import type { Page } from "../../pages/LocalPage.ts"
import { parts } from "../../pages/SandboxAccess.ts"
import type { PhoneView, SessionView } from "../control/Controls.ts"
import type { Group } from "../model/Groups.ts"

const { path } = parts.phones

/** The content of the page of all phones. */
export interface PhonesOverview {
  readonly pending: ReadonlyArray<PendingSession>
  readonly phones: ReadonlyArray<PhoneView>
  readonly devices: ReadonlyArray<SessionView>
  readonly groups: ReadonlyArray<Group>
}

/** The reason of a refused request, above the page of its form. */
export const problemCard = (problem: string | undefined): Html | false =>
  problem !== undefined && html`<p class="card problem" role="alert">${problem}</p>
`

/** A form that posts to a page below the phones. */
export const postForm = (to: string, content: Html, kind = ""): Html =>
  html`<form method="post" action="${path}${to}" class="${kind}">${content}</form>`

/** A list of rows, or a text if there are none. */
export const rowsOr = (rows: ReadonlyArray<Html>, nothing: string): Html =>
  rows.length === 0
    ? html`<p class="quiet">${nothing}</p>`
    : html`<ul class="rows card">${rows.map((row) => html`<li>${row}</li>\n`)}</ul>`

const deviceButton = (session: string, verb: "drop" | "log-out", label: string) =>
  postForm(
    `/devices/${verb}`,
    html`<input type="hidden" name="session" value="${session}"><button>${label}</button>`
  )

/** A linked device with what its phone can do to it. */
export const deviceRow = ({ isConnected, logins, number, session }: SessionView): Html =>
  html`<span class="what"><a href="${path}/${number}"><code>${session}</code></a>
<span class="pill ${isConnected ? "delivered" : "expired"}">${isConnected ? "connected" : "not connected"}</span>
<span class="quiet">${pluralize(logins, "login")}</span></span>
${isConnected && deviceButton(session, "drop", "Drop the connection")}${deviceButton(session, "log-out", "Log out")}`

const numberField = html`<input name="number" list="phones" placeholder="15550100300" aria-label="Phone number" required
inputmode="tel" autocomplete="off">`

const pendingRow = ({ account_id, id, name, status }: PendingSession) =>
  html`<span class="what"><b>${name}</b>
<span class="quiet">session ${id} of account ${account_id}, ${status}</span></span>
${postForm("/scan", html`<input type="hidden" name="session" value="${id}">${numberField}<button>Scan</button>`)}`

const otherWays = html`<details id="other-ways"><summary>Other ways to pair</summary>
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

/** The name of a phone, unless it is its number. */
export const nameOf = ({ number, pushName }: PhoneView): string => pushName === number ? "" : pushName

const phoneRow = (phone: PhoneView) =>
  html`<a class="what" href="${path}/${phone.number}"><b>${phone.number}</b> <span class="quiet">${
    nameOf(phone)
  }</span></a>`

/** A group with its members and the code of its invite link. */
export const groupRow = ({ inviteCode, members, subject }: Group): Html =>
  html`<span class="what"><b>${subject}</b>
<span class="quiet">${
    members.map(({ number }) => number).join(", ")
  }; invite code <code>${inviteCode}</code></span></span>`

/** The page of all phones. */
export const phonesPage = ({ devices, groups, pending, phones }: PhonesOverview, problem?: string): Page => ({
  title: "Phones",
  content: html`${problemCard(problem)}<div class="head"><h1>Phones</h1></div>
<datalist id="phones">${phones.map(({ number }) => html`<option value="${number}"></option>`)}</datalist>
<section><h2>Sessions to pair</h2>
<div id="pending" data-live>${rowsOr(pending.map(pendingRow), "None. POST /v1/whatsapp/sessions creates one.")}</div>
${otherWays}</section>
<section><h2>Phones</h2>
<div id="all-phones" data-live>${
    rowsOr(phones.map(phoneRow), "None yet. A number gets a phone when something is sent to it.")
  }</div>
${
    postForm(
      "",
      html`${numberField}<input name="name" placeholder="Name" aria-label="Name"><button>Create a phone</button>`,
      "below"
    )
  }</section>
<section><h2>Linked devices</h2>
<div id="devices" data-live>${rowsOr(devices.map(deviceRow), "None yet. Pair a session first.")}</div></section>
<section><h2>Groups</h2>
<div id="groups" data-live>${rowsOr(groups.map(groupRow), "None yet. A phone's page creates one.")}</div></section>`
})

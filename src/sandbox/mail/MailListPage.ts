import { Html, html } from "../../platform/http/html.ts"
import { pluralize } from "../../values/messageText.ts"
import type { Page } from "../pages/LocalPage.ts"
import { parts } from "../pages/SandboxAccess.ts"
import * as shown from "../pages/shown.ts"
import { type MailSelection, queryString } from "./MailFilter.ts"
import type { InboxPage } from "./SandboxInbox.ts"
import type { SandboxMailSummary } from "./SandboxInboxRepo.ts"
import { specialAddresses } from "./specialAddresses.ts"

const { path } = parts.mail

/** The content of the list page. */
export interface MailList extends InboxPage {
  readonly selection: MailSelection
  readonly page: number
  readonly per_page: number
  /** The port of the inbox's SMTP server on this machine. */
  readonly smtpPort: number
}

const row = ({ attachment_count, from, id, read, received_at, subject, to }: SandboxMailSummary) =>
  html`<li${!read && new Html(" class=\"unread\"")}><a href="${path}/${id}" id="mail-${id}">
<span class="who">${!read && new Html("<span class=\"dot\"><span class=\"hidden\">Unread: </span></span>")}${to}</span>
<span class="what"><span class="subject">${
    subject === "" ? "(no subject)" : subject
  }</span> <span class="from">from ${from}</span></span>
<span class="when">${attachment_count > 0 && html`<span class="quiet">${pluralize(attachment_count, "file")}</span> `}${
    shown.time(received_at)
  }</span>
</a></li>
`

/** The selection as one line of search. */
const searchOf = ({ from, q, subject, to }: MailSelection) =>
  Object.entries({ to, from, subject }).filter(([, text]) => text !== "").map(([field, text]) =>
    /\s/.test(text) ? `${field}:"${text}"` : `${field}:${text}`
  ).concat(q === "" ? [] : [q]).join(" ")

const nothing = ({ page, selection, smtpPort }: MailList) =>
  queryString(selection) !== ""
    ? shown.empty(
      "No mail matches",
      html`The search looks at addresses, subject, headers and text. <a href="${path}">Show all mail</a>`
    )
    : page > 1
    ? shown.empty("Nothing on this page", html`<a href="${path}">Go to the newest mail</a>`)
    : shown.empty(
      "No mail yet",
      html`All mail that the service sends appears here by itself. Programs on this machine can also send to
<code>smtp://127.0.0.1:${smtpPort}</code>.`
    )

const tools = [
  ["to:ada@ from:shop subject:order", "words in one field"],
  ["\"your code\" is:unread has:attachment", "a phrase, and marks; all words must match"]
] as const

/** The page with the inbox's list. */
export const mailListPage = (list: MailList): Page => {
  const { page, per_page, rows, selection, total, unread } = list
  const query = queryString(selection)
  return {
    title: unread > 0 ? `(${unread}) Mail` : "Mail",
    content: html`<div class="head"><h1>Mail</h1>${
      shown.searchForm(path, { label: "Search mail", value: searchOf(selection) })
    }</div>
<div id="inbox" data-live>
<div class="count"><p class="quiet">${pluralize(total, "message")}, ${unread} unread</p>
<div class="actions">${unread > 0 && shown.button(`${path}/read`, "Mark all as read")}${
      total > 0 && shown.deleteAll(`${path}/delete${query}`, { count: total, noun: "message" })
    }</div></div>
${rows.length === 0 ? nothing(list) : html`<ol class="mails card">${rows.map(row)}</ol>`}
${shown.pages({ page, per_page, total, path: `${path}${query}` })}
</div>
${shown.hints("Words for a search", tools)}
${
      shown.hints(
        "Addresses that fail or report on purpose",
        specialAddresses.map(({ meaning, prefix }) => [`${prefix}…@any.example`, meaning] as const)
      )
    }`
  }
}

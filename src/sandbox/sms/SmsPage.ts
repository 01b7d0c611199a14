import { html } from "../../platform/http/html.ts"
import { pluralize } from "../../values/messageText.ts"
import type { Page } from "../pages/LocalPage.ts"
import { parts } from "../pages/SandboxAccess.ts"
import * as shown from "../pages/shown.ts"
import type { SandboxSms, SmsFilter } from "./SandboxSmsRepo.ts"
import { specialNumbers } from "./specialNumbers.ts"

const { path } = parts.sms

/** The content of the list page. */
export interface SmsList {
  readonly rows: ReadonlyArray<SandboxSms>
  readonly total: number
  readonly page: number
  readonly per_page: number
  readonly filter: SmsFilter
}

const encodings: Readonly<Record<string, string>> = { gsm7: "GSM 7 bit", ucs2: "UCS-2" }

/** The query string of a filter, with its question mark; empty if it selects all. */
const queryString = ({ from, q, text, to }: SmsFilter): string => {
  const given = Object.entries({ to, from, text, q }).filter(([, value]) => value !== "")
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`
}

const card = ({ encoding, from, message_id, parts: all, parts_received, received_at, status, text, to }: SandboxSms) =>
  html`<li class="card sms" id="sms-${message_id}"><div class="line"><span class="who"><a href="${path}?to=${
    encodeURIComponent(to)
  }">${to}</a></span>
<span class="quiet">from ${from ?? "the carrier's number"}</span><span class="when">${
    shown.time(received_at)
  }</span></div>
<p class="text">${shown.linked(text)}</p>
<div class="line quiet"><span class="pill ${status}">${status}</span>
<span>${parts_received < all && `${parts_received} of `}${pluralize(all, "segment")}</span>
<span>${encodings[encoding] ?? encoding}, ${pluralize([...text].length, "character")}</span>
<span><a href="${path}/${message_id}">message ${message_id}</a></span>
${shown.button(`${path}/${message_id}/delete`, "Delete")}</div></li>
`

const numbers = shown.hints(
  "Numbers that fail on purpose",
  specialNumbers.map(({ meaning, number }) => [number, meaning] as const)
)

/** The page with the SMS of all phones. */
export const smsListPage = ({ filter, page, per_page, rows, total }: SmsList): Page => {
  const query = queryString(filter)
  const none = query === ""
    ? shown.empty("No SMS yet", "Every SMS that the service sends appears here by itself.")
    : shown.empty("No SMS matches", html`<a href="${path}">Show all SMS</a>`)
  return {
    title: "SMS",
    content: html`<div class="head"><h1>SMS</h1>${
      shown.searchForm(path, { label: "Search number or text", value: [filter.to, filter.q].join(" ").trim() })
    }</div>
<div id="texts" data-live>
<div class="count"><p class="quiet">${pluralize(total, "message")}</p>
<div class="actions">${
      total > 0 && shown.deleteAll(`${path}/delete${query}`, { count: total, noun: "message" })
    }</div></div>
${rows.length === 0 ? none : html`<ol class="texts">${rows.map(card)}</ol>`}
${shown.pages({ page, per_page, total, path: `${path}${query}` })}
</div>
${numbers}`
  }
}

/** The page of one SMS. */
export const smsPage = (sms: SandboxSms): Page => ({
  title: `SMS to ${sms.to}`,
  content: html`<div class="head"><a class="back" href="${path}">← All SMS</a></div>
<h1 class="hidden">SMS to ${sms.to}</h1>
<ol class="texts" id="text" data-live>${card(sms)}</ol>`
})

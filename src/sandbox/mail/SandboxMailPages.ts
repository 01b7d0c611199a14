import { Html, html } from "../../platform/http/html.ts"
import { pluralize } from "../../values/messageText.ts"
import * as LocalPage from "../pages/LocalPage.ts"
import type { ReadMail } from "./readMail.ts"
import type { SandboxMail, SandboxMailSummary } from "./SandboxInboxRepo.ts"
import { specialAddresses } from "./specialAddresses.ts"

/** The inbox, and where it is served. */
export const sandboxMailSite = { name: "Sandbox inbox", path: "/sandbox/mail" } as const

const sandboxMailPath = sandboxMailSite.path

// The sandbox attribute omits allow-scripts and allow-same-origin: the mail's markup runs no script and has no origin,
// even outside the frame. Links open in a new tab and remote images load, so that developers can try clicks and opens.
const frame = "allow-popups allow-popups-to-escape-sandbox"

/** Content-Security-Policy of the inbox's pages, of a mail's markup, and of its source. */
export const sandboxMailPolicies = {
  page: `${LocalPage.policy}; frame-src 'self'`,
  markup: "default-src 'none'; img-src http: https: data:; style-src 'unsafe-inline'; font-src http: https: data:; "
    + `base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox ${frame}`,
  source: "default-src 'none'; frame-ancestors 'none'; sandbox"
} as const

/** The content of the list page. */
export interface InboxPage {
  readonly rows: ReadonlyArray<SandboxMailSummary>
  readonly total: number
  readonly page: number
  readonly per_page: number
  readonly to: string
  /** The port of the inbox's SMTP server on this machine. */
  readonly smtpPort: number
}

const layout = (title: string, to: string, content: Html): string =>
  LocalPage.document({
    title,
    site: sandboxMailSite,
    search: { value: to, placeholder: "Recipient", label: "Search by recipient" }
  }, content)

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

const time = (instant: string) => {
  const [, year = "", month = "", day = "", clock = ""] = /^(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d:\d\d)/.exec(instant) ?? []
  return html`<time datetime="${instant}">${Number(day)} ${months[Number(month) - 1]} ${year}, ${clock} UTC</time>`
}

const size = (bytes: number) =>
  bytes < 1_000
    ? `${bytes} B`
    : bytes < 1_000_000
    ? `${(bytes / 1_000).toFixed(1)} kB`
    : `${(bytes / 1e6).toFixed(1)} MB`

const row = ({ from, id, received_at, subject, to }: SandboxMailSummary) =>
  html`<li><a href="${sandboxMailPath}/${id}">
<span class="to">${to}</span>
<span class="subject">${subject === "" ? "(no subject)" : subject}<span class="from">${from}</span></span>
${time(received_at)}
</a></li>
`

const hints = html`<details class="hints"><summary>Addresses that fail or report on purpose</summary>
<dl>${
  specialAddresses.map(({ meaning, prefix }) =>
    html`<dt><code>${prefix}…@any.example</code></dt><dd>${meaning}</dd>
`
  )
}</dl></details>`

const pageLink = (page: number, to: string, label: string) =>
  html`<a href="${sandboxMailPath}?page=${page}${to === "" ? "" : `&to=${encodeURIComponent(to)}`}">${label}</a>`

const pages = ({ page, per_page, to, total }: InboxPage) => {
  const last = Math.max(1, Math.ceil(total / per_page))
  return last > 1 && html`<nav class="pages" aria-label="Pages">
<span>${page > 1 && pageLink(page - 1, to, "← Newer")}</span>
<span class="quiet">Page ${page} of ${last}</span>
<span>${page < last && pageLink(page + 1, to, "Older →")}</span>
</nav>`
}

const nothing = ({ page, smtpPort, to }: InboxPage) =>
  to !== ""
    ? html`<div class="card empty"><h2>No mail to “${to}”</h2>
<p class="quiet">Search for an address or a part of one. <a href="${sandboxMailPath}">Show all mail</a></p></div>`
    : page > 1
    ? html`<div class="card empty"><h2>Nothing on this page</h2>
<p class="quiet"><a href="${sandboxMailPath}">Go to the newest mail</a></p></div>`
    : html`<div class="card empty"><h2>No mail yet</h2>
<p class="quiet">No relay is configured, so this inbox receives all mail that the service sends.
Its SMTP server listens on <code>127.0.0.1:${smtpPort}</code>.</p></div>`

const list = (inbox: InboxPage): string =>
  layout(
    "Mail",
    inbox.to,
    html`<div class="head"><h1>Mail</h1>
<span class="quiet">${pluralize(inbox.total, "message")}${inbox.to !== "" && ` to “${inbox.to}”`}</span></div>
${inbox.rows.length === 0 ? nothing(inbox) : html`<ol class="mails card">${inbox.rows.map(row)}</ol>`}
${pages(inbox)}
${hints}`
  )

interface Panel {
  readonly name: "html" | "text" | "headers" | "files"
  readonly label: string
  readonly content: Html
}

const panelsOf = (id: number, { attachments, headers, html: markup, text }: ReadMail): ReadonlyArray<Panel> => {
  const panels: Array<Panel> = []
  if (markup !== undefined) {
    const content =
      html`<iframe title="The message as HTML" sandbox="${frame}" src="${sandboxMailPath}/${id}/html"></iframe>`
    panels.push({ name: "html", label: "HTML", content })
  }
  if (text !== undefined) panels.push({ name: "text", label: "Text", content: html`<pre>${text}</pre>` })
  const fields = headers.map(({ name, value }) =>
    html`<dt>${name}</dt><dd>${value}</dd>
`
  )
  panels.push({ name: "headers", label: "Headers", content: html`<dl class="facts">${fields}</dl>` })
  if (attachments.length > 0) {
    const files = attachments.map(({ bytes, name, type }) =>
      html`<dt>${name}</dt><dd>${type}, ${size(bytes)}</dd>
`
    )
    panels.push({
      name: "files",
      label: pluralize(attachments.length, "file"),
      content: html`<dl class="facts">${files}</dl>`
    })
  }
  return panels
}

const tabs = (id: number, content: ReadMail) => {
  const panels = panelsOf(id, content)
  return html`<div class="tabs"><a href="${sandboxMailPath}/${id}/raw">Source</a>
${
    panels.map(({ label, name }, index) =>
      html`<input type="radio" name="show" id="show-${name}"${
        index === 0 && new Html(" checked")
      }><label for="show-${name}">${label}</label>
`
    )
  }${
    panels.map(({ content, name }) =>
      html`<section class="panel ${name}">${content}</section>
`
    )
  }</div>`
}

const mail = (summary: SandboxMail, content: ReadMail): string => {
  const subject = summary.subject === "" ? "(no subject)" : summary.subject
  return layout(
    subject,
    "",
    html`<a class="back" href="${sandboxMailPath}">← All mail</a>
<article class="card">
<div class="summary"><h1>${subject}</h1>
<dl class="facts">
<dt>From</dt><dd>${summary.from}</dd>
<dt>To</dt><dd><a href="${sandboxMailPath}?to=${encodeURIComponent(summary.to)}">${summary.to}</a></dd>
<dt>Return path</dt><dd>${summary.envelope_from === "" ? "<> (none)" : summary.envelope_from}</dd>
<dt>Received</dt><dd>${time(summary.received_at)}, ${size(summary.raw.length)}</dd>
</dl></div>
${tabs(summary.id, content)}
</article>`
  )
}

const missing = (): string =>
  layout(
    "Not found",
    "",
    html`<div class="card empty"><h1>No such mail</h1>
<p class="quiet">The inbox keeps only the newest mails. <a href="${sandboxMailPath}">Show all mail</a></p></div>`
  )

const doctype = /^\s*<!doctype[^>]{0,300}>/i

/**
 * A mail's own markup for its frame. The base element opens its links in a new tab instead of the frame. It follows the
 * doctype, because text before the doctype would change the browser's layout mode.
 */
const markup = (mailHtml: string): string => {
  const [head = ""] = doctype.exec(mailHtml) ?? []
  return `${head}<meta charset="utf-8"><base target="_blank">${mailHtml.slice(head.length)}`
}

/** The pages of the inbox as complete documents. They escape all text of a mail; only `markup` returns foreign HTML. */
export const SandboxMailPages = { list, mail, missing, markup } as const

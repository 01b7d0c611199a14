import { Html, html } from "../../platform/http/html.ts"
import { pluralize } from "../../values/messageText.ts"
import type { Page } from "../pages/LocalPage.ts"
import { parts } from "../pages/SandboxAccess.ts"
import * as shown from "../pages/shown.ts"
import type { ReadMail } from "./readMail.ts"
import type { SandboxMail } from "./SandboxInboxRepo.ts"

const { path } = parts.mail

// The sandbox attribute omits allow-scripts and allow-same-origin: the mail's markup runs no script and has no origin,
// even outside the frame. Links open in a new tab and remote images load, so that developers can try clicks and opens.
const frame = "allow-popups allow-popups-to-escape-sandbox"

/** Content-Security-Policy of a mail's markup, and of its source and its files. */
export const mailPolicies = {
  markup: "default-src 'none'; img-src http: https: data:; style-src 'unsafe-inline'; font-src http: https: data:; "
    + `base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox ${frame}`,
  source: "default-src 'none'; frame-ancestors 'none'; sandbox"
} as const

interface Panel {
  readonly name: "html" | "text" | "headers" | "links" | "files"
  readonly label: string
  readonly content: Html
}

/** The widths of the preview. The style sheet has their sizes. */
const widths = [["desktop", "Desktop"], ["tablet", "Tablet"], ["phone", "Phone"]] as const

const preview = (id: number) =>
  html`<div class="preview"><fieldset class="widths"><legend class="hidden">Width of the preview</legend>${
    widths.map(([name, label], index) =>
      html`<input type="radio" name="width" id="width-${name}"${
        index === 0 && new Html(" checked")
      }><label for="width-${name}">${label}</label>`
    )
  }</fieldset>
<div class="frame"><iframe title="The message as HTML" sandbox="${frame}" src="${path}/${id}/html"></iframe></div></div>`

const fileRow = (id: number) => ({ content, name, type }: ReadMail["attachments"][number], index: number) =>
  html`<li><a href="${path}/${id}/files/${index + 1}" download>${name}</a>
<span class="quiet">${type}, ${shown.size(content.length)}</span></li>
`

const linkRow = (url: string) =>
  html`<li>${
    /^https?:/i.test(url)
      ? html`<a href="${url}" target="_blank" rel="noreferrer">${url}</a>`
      : html`<span>${url}</span>`
  }</li>
`

const panelsOf = (id: number, { attachments, headers, html: markup, links, text }: ReadMail): ReadonlyArray<Panel> => {
  const panels: Array<Panel> = []
  const fields = headers.map(({ name, value }) =>
    html`<dt>${name}</dt><dd>${value}</dd>
`
  )
  if (markup !== undefined) panels.push({ name: "html", label: "HTML", content: preview(id) })
  if (text !== undefined) panels.push({ name: "text", label: "Text", content: html`<pre>${text}</pre>` })
  panels.push({ name: "headers", label: "Headers", content: html`<dl class="facts">${fields}</dl>` })
  if (links.length > 0) {
    const label = pluralize(links.length, "link")
    panels.push({ name: "links", label, content: html`<ul class="plain">${links.map(linkRow)}</ul>` })
  }
  if (attachments.length > 0) {
    const label = pluralize(attachments.length, "file")
    panels.push({ name: "files", label, content: html`<ul class="plain">${attachments.map(fileRow(id))}</ul>` })
  }
  return panels
}

/** Panels with tabs of radio buttons, which need no script. */
const tabs = (panels: ReadonlyArray<Panel>) =>
  html`<div class="tabs">${
    panels.map(({ label, name }, index) =>
      html`<input type="radio" name="show" id="show-${name}"${
        index === 0 && new Html(" checked")
      }><label for="show-${name}">${label}</label>
`
    )
  }${
    panels.map(({ content, name }) =>
      html`<section class="panel ${name}" aria-label="${name}">${content}</section>
`
    )
  }</div>`

/** The page of one mail. */
export const mailPage = (mail: SandboxMail, content: ReadMail): Page => {
  const title = mail.subject === "" ? "(no subject)" : mail.subject
  return {
    title,
    content: html`<div class="head"><a class="back" href="${path}">← All mail</a>
<div class="actions"><a class="button" href="${path}/${mail.id}/raw">Source</a>${
      shown.button(`${path}/${mail.id}/delete`, "Delete", "danger")
    }</div></div>
<article class="card">
<div class="summary"><h1>${title}</h1>
<dl class="facts">
<dt>From</dt><dd>${mail.from}</dd>
<dt>To</dt><dd><a href="${path}?to=${encodeURIComponent(mail.to)}">${mail.to}</a></dd>
<dt>Return path</dt><dd>${mail.envelope_from === "" ? "<> (none)" : mail.envelope_from}</dd>
<dt>Received</dt><dd>${shown.time(mail.received_at)}, ${shown.size(mail.raw.length)}</dd>
</dl></div>
${tabs(panelsOf(mail.id, content))}
</article>`
  }
}

const doctype = /^\s*<!doctype[^>]{0,300}>/i

/**
 * A mail's own markup for its frame. The base element opens its links in a new tab instead of the frame. It follows the
 * doctype, because text before the doctype would change the browser's layout mode.
 */
export const markupOf = (mailHtml: string): string => {
  const [head = ""] = doctype.exec(mailHtml) ?? []
  return `${head}<meta charset="utf-8"><base target="_blank">${mailHtml.slice(head.length)}`
}

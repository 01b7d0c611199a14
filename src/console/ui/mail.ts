/** A mail as its readers see it. */
import { type Html, html } from "../../platform/http/html.ts"
import type { Ask } from "../page/Ask.ts"
import { code, foreign, number } from "./parts.ts"
import { tabs } from "./progress.ts"

interface Mail {
  readonly subject: string
  readonly html: string | null
  readonly text: string | null
}

const views = ["wide", "phone", "dark", "plain", "source"] as const
type View = (typeof views)[number]

/** The view of the address. A mail without HTML has only its text. */
export const viewIn = ({ query }: Ask, { html: markup }: Pick<Mail, "html">): View =>
  markup === null ? "plain" : views.find((view) => view === query.get("view")) ?? "wide"

/** From this size on, large providers cut a mail. */
const cutAt = 102 * 1024

const viewTabs = (ask: Ask, current: View) => {
  const { path, query, t } = ask
  return tabs(
    t.text("templates.preview.views"),
    views.map((view) => {
      const next = new URLSearchParams(query)
      next.set("view", view)
      return {
        label: t.text(`templates.preview.${view}`),
        href: `${path}?${next}`,
        isCurrent: view === current
      }
    })
  )
}

const sizeOf = (ask: Ask, markup: string) => {
  const bytes = Buffer.byteLength(markup)
  const size = number(ask, Math.max(1, Math.round(bytes / 1024)))
  return html`<p class="hint">${ask.t.text(`templates.preview.${bytes > cutAt ? "large" : "size"}`, { size })}</p>`
}

/** A text as it is, with its line breaks. */
const textOf = (label: string, text: Html) =>
  html`<pre class="mail-text" tabindex="0" role="group" aria-label="${label}">${text}</pre>`

/** The mail in one view. The page at `frame` has its HTML. */
const shownIn = ({ t }: Ask, view: View, { mail, frame }: { readonly mail: Mail; readonly frame: string }) => {
  if (view === "plain") return textOf(t.text("templates.preview.plain"), foreign(mail.text ?? ""))
  if (view === "source") return textOf(t.text("templates.preview.source"), code(mail.html ?? ""))
  return html`<iframe class="mail ${view}" sandbox title="${
    t.text("templates.preview.frame")
  }" src="${frame}"></iframe>`
}

/** The subject and the text, or the HTML, which the page at `frame` has. */
export const mailOf = (ask: Ask, mail: Mail, frame: string): Html => {
  const { t } = ask
  const view = viewIn(ask, mail)
  return html`${mail.html !== null && viewTabs(ask, view)}
<p class="subject"><span class="quiet">${t.text("templates.subject")}:</span> ${foreign(mail.subject)}</p>
${shownIn(ask, view, { mail, frame })}${mail.html !== null && sizeOf(ask, mail.html)}`
}

const doctype = /^\s*<!doctype[^>]{0,300}>/i

/** The mail's own markup, for a frame. The headers of frames limit what it may do. */
export const frameOf = (markup: string): string => {
  const [head = ""] = doctype.exec(markup) ?? []
  return `${head}<meta charset="utf-8">${markup.slice(head.length)}`
}

import { DateTime } from "effect"
import { type Html, html, type HtmlValue } from "../../platform/http/html.ts"
import { pluralize } from "../../values/messageText.ts"

/** A point in time. The page's script shows it in the reader's time zone. */
export const time = (instant: string): Html =>
  html`<time datetime="${instant}">${instant.slice(0, 16).replace("T", " ")} UTC</time>`

/** A point in time in milliseconds since 1970. */
export const timeOf = (millis: number): Html => time(DateTime.formatIso(DateTime.makeUnsafe(millis)))

/** A number of bytes for people. */
export const size = (bytes: number): string =>
  bytes < 1_000
    ? `${bytes} B`
    : bytes < 1_000_000
    ? `${(bytes / 1_000).toFixed(1)} kB`
    : `${(bytes / 1e6).toFixed(1)} MB`

const safeUrl = /\bhttps?:\/\/[^\s<>"'`]{1,2000}/g

/** Text with its addresses of the web as links, which open in a new tab. */
export const linked = (text: string): Html => {
  let end = 0
  const pieces: Array<Html> = []
  for (const { 0: match, index } of text.matchAll(safeUrl)) {
    const url = match.replace(/[.,;:!?)\]}*_~]+$/, "")
    pieces.push(html`${text.slice(end, index)}<a href="${url}" target="_blank" rel="noreferrer">${url}</a>`)
    end = index + url.length
  }
  return html`${pieces}${text.slice(end)}`
}

/** A search field that sends its words as `q`. */
export const searchForm = (path: string, { label, value }: { readonly label: string; readonly value: string }): Html =>
  html`<form class="search" action="${path}" role="search">
<input type="search" name="q" value="${value}" placeholder="${label}" aria-label="${label}"><button>Search</button>
</form>`

/** A list of terms with their meaning, closed at first. */
export const hints = (title: string, terms: ReadonlyArray<readonly [term: string, meaning: string]>): Html =>
  html`<details class="hints" id="hints"><summary>${title}</summary>
<dl class="facts">${
    terms.map(([term, meaning]) => html`<dt><code>${term}</code></dt><dd>${meaning}</dd>\n`)
  }</dl></details>`

/** What a page shows instead of an empty list. */
export const empty = (title: string, content: HtmlValue): Html =>
  html`<div class="card empty"><h2>${title}</h2><p class="quiet">${content}</p></div>`

/** Asks before it deletes all. It works without a script. */
export const deleteAll = (action: string, { count, noun }: { readonly count: number; readonly noun: string }): Html =>
  html`<details class="menu" id="delete-all"><summary>Delete all</summary>
<form method="post" action="${action}"><button class="danger">Delete ${
    pluralize(count, noun)
  }</button></form></details>`

/** A form that changes something without an input. */
export const button = (action: string, label: string, kind = ""): Html =>
  html`<form method="post" action="${action}"><button class="${kind}">${label}</button></form>`

interface Window {
  readonly page: number
  readonly per_page: number
  readonly total: number
  /** The path with the filter of the list. */
  readonly path: string
}

/** Links to the pages before and after this one. */
export const pages = ({ page, path, per_page, total }: Window): Html | false => {
  const last = Math.max(1, Math.ceil(total / per_page))
  const link = (to: number, label: string) =>
    html`<a href="${path}${path.includes("?") ? "&" : "?"}page=${to}&amp;per_page=${per_page}">${label}</a>`
  return last > 1 && html`<nav class="pages" aria-label="Pages">
<span>${page > 1 && link(page - 1, "← Newer")}</span>
<span class="quiet">Page ${page} of ${last}</span>
<span>${page < last && link(page + 1, "Older →")}</span>
</nav>`
}

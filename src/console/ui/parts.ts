/** The small parts of every page. */
import { Html, html, type HtmlValue } from "../../platform/http/html.ts"
import { maxRows } from "../../values/Page.ts"
import { assets } from "../assets/Assets.ts"
import { type IconName, mirrored } from "../assets/icons.ts"
import { marked, type Translate } from "../language/Messages.ts"
import type { Ask } from "../page/Ask.ts"

/** An icon. It says nothing by itself: a word stands beside it, or its control has a label. */
export const icon = (name: IconName): Html =>
  html`<svg class="icon${
    mirrored.has(name) && " mirrored"
  }" aria-hidden="true" width="16" height="16"><use href="${assets.icons().path}#${name}"></use></svg>`

/** Text that people or other programs wrote: its direction does not leak, and its unseen characters are marked. */
export const foreign = (text: string): Html => html`<bdi>${marked(text)}</bdi>`

/** An id, a key or an address that people copy: the same in every language. */
export const code = (text: string): Html => html`<code dir="ltr">${marked(text)}</code>`

/** What a status means: its word stands beside its colour. */
export type Tone = "good" | "bad" | "warn" | "busy" | "quiet"

export const badge = (label: string, tone: Tone): Html => html`<span class="badge ${tone}">${label}</span>`

const formats = new Map<string, Intl.DateTimeFormat>()

const formatOf = ({ hourCycle, t, timezone }: Ask, style: "short" | "full") => {
  const name = `${t.locale} ${timezone} ${hourCycle} ${style}`
  const known = formats.get(name) ?? new Intl.DateTimeFormat(t.intl, {
    timeZone: timezone,
    ...(hourCycle !== undefined && { hourCycle }),
    ...(style === "short"
      ? { dateStyle: "medium", timeStyle: "short" }
      : { dateStyle: "full", timeStyle: "long" })
  })
  formats.set(name, known)
  return known
}

const millisOf = (instant: string) => Date.parse(instant)

/** A point in time as text, in the reader's language and time zone. */
export const momentText = (ask: Ask, instant: string): string => formatOf(ask, "short").format(millisOf(instant))

/** A point in time. Its title has the seconds and the zone. */
export const moment = (ask: Ask, instant: string): Html =>
  html`<time datetime="${instant}" title="${formatOf(ask, "full").format(millisOf(instant))}">${
    momentText(ask, instant)
  }</time>`

/** Making a format takes longer than drawing a row of a table. */
const numbers = new Map<string, Intl.NumberFormat>()

/** A number with the separators of the reader's language. */
export const number = ({ t }: Ask, value: number): string => {
  const known = numbers.get(t.intl) ?? new Intl.NumberFormat(t.intl)
  numbers.set(t.intl, known)
  return known.format(value)
}

/** The total of a list. Of long lists the service counts the first rows alone. */
export const counted = (ask: Ask, total: number | null): string =>
  total === null ? ask.t.text("recover.atLeast", { count: number(ask, maxRows) }) : number(ask, total)

/** A price or a sum in US dollars. Prices of an SMS have up to six decimals. */
export const inDollars = ({ t }: Ask, usd: number): string =>
  new Intl.NumberFormat(t.intl, { style: "currency", currency: "USD", maximumFractionDigits: 6 }).format(usd)

/** Shown where there is nothing to say. */
export const missing = "–"

/** A part of one as a percentage. */
export const share = ({ t }: Ask, part: number | null): string =>
  part === null ? missing : new Intl.NumberFormat(t.intl, { style: "percent", maximumFractionDigits: 1 }).format(part)

/** The name of a two-letter country in the reader's language. */
export const countryName = ({ t }: Ask, country: string | null) =>
  country === null ? missing : foreign(new Intl.DisplayNames([t.intl, "en"], { type: "region" }).of(country) ?? country)

/** Several texts as one, with the commas of the reader's language. */
export const listed = ({ t }: Pick<Ask, "t">, items: ReadonlyArray<string>): string =>
  items.length === 0 ? "" : items.reduceRight((rest, first) => t.text("common.list", { first, rest }))

/** A text with a button that copies it. Without scripts the text can be selected. */
export const copyable = (
  { t }: Ask,
  text: string,
  { isBlock = false, label }: { readonly label: string; readonly isBlock?: boolean }
): Html =>
  html`<div class="copyable${isBlock && " block"}">${
    isBlock
      ? html`<pre dir="ltr" tabindex="0" role="group" aria-label="${label}"><code>${marked(text)}</code></pre>`
      : html`<code dir="ltr">${marked(text)}</code>`
  }<button type="button" class="quiet" hidden data-copy="${text}" data-copied="${
    t.text("common.copied")
  }" aria-label="${t.text("common.copy")}: ${label}">${icon("copy")}<span>${
    t.text("common.copy")
  }</span></button></div>`

/** Marks that hide or turn around what follows, and the mark that ends a word of a shell. JSON may name them by number. */
const unsafe = /['\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

/** The same request for a shell. The key is a variable, because a page never has one. */
export const curlOf = (
  { base }: Pick<Ask, "base">,
  { body, method, path }: { readonly method: string; readonly path: string; readonly body?: unknown }
): string =>
  [
    `curl${method === "GET" ? "" : ` -X ${method}`} '${base}${
      path.replaceAll("'", "%27")
    }' -H "Authorization: Bearer $KEY"`,
    ...(body === undefined ? [] : [
      "-H 'Content-Type: application/json'",
      `-d '${
        JSON.stringify(body, null, 2).replaceAll(
          unsafe,
          (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`
        )
      }'`
    ])
  ].join(" ")

/** A button that copies the address of this page. Without scripts the browser shows the address. */
export const copyLink = ({ base, path, query, t }: Ask): Html =>
  html`<button type="button" hidden data-copy="${base}${path}${query.size > 0 && `?${query}`}" data-copied="${
    t.text("common.copied")
  }">${icon("link")}<span>${t.text("common.copyLink")}</span></button>`

/** A link that looks like a button. */
export const linkButton = (
  href: string,
  label: string,
  options: {
    readonly icon?: IconName
    readonly tone?: "main" | "danger"
    readonly opensDialog?: boolean
    /** For a list, where the text alone does not say of what. */
    readonly label?: string
  } = {}
): Html =>
  html`<a class="button${options.tone !== undefined && ` ${options.tone}`}" href="${href}"${
    options.opensDialog === true && new Html(" data-dialog")
  }${options.label !== undefined && html` aria-label="${marked(options.label)}"`}>${
    options.icon !== undefined && icon(options.icon)
  }<span>${label}</span></a>`

/** The room of a button that comes while the page is open: the same link, which is hidden and leads nowhere. */
export const buttonRoom = (label: string, name: IconName): Html =>
  html`<a class="button" data-gone>${icon(name)}<span>${label}</span></a>`

/** A part of a page with its own heading. */
export const card = (title: string, content: HtmlValue, id: string): Html =>
  html`<section class="card" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${content}</section>`

/** Seconds of the longest wait that scripts count down. */
const longestCount = 900

/**
 * How long to wait for each number of seconds, where it differs in more than the number: from which one on, `#` in its
 * place.
 */
const waitsOf = (t: Translate, seconds: number) => {
  const runs: Array<readonly [from: number, sentence: string]> = []
  for (let left = 1; left <= seconds; left++) {
    const sentence = t.text("problem.tooFast.text", { seconds: left }).replace(String(left), "#")
    if (runs.at(-1)?.[1] !== sentence) runs.push([left, sentence])
  }
  return runs
}

/** How long to wait. Scripts count it down, and then load a page again that was refused. */
export const countdown = (t: Translate, seconds: number, isPage = false): Html =>
  html`<span role="timer"${
    seconds <= longestCount && html` data-wait="${JSON.stringify(waitsOf(t, seconds))}" data-seconds="${seconds}"`
  }${isPage && new Html(" data-reloads")}>${t.text("problem.tooFast.text", { seconds })}</span>`

/** Terms with their values. */
export const facts = (pairs: ReadonlyArray<readonly [term: string, value: HtmlValue]>): Html =>
  html`<dl class="facts">${pairs.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`

/** What a page shows instead of an empty list: what would be here, and one way to make it. */
export const emptyState = (
  { button, icon: name, text, title }: {
    readonly title: string
    readonly text: string
    readonly icon: IconName
    readonly button?: Html | false
  }
): Html => html`<div class="empty">${icon(name)}<h2>${title}</h2><p>${text}</p>${button}</div>`

/** One thing of a list that changes while its page is open. */
interface Held {
  /** The same on each load of the page. */
  readonly id: string
  readonly tone: Tone
  /** What it is: on an open page, all that is shown of a new one. */
  readonly sentence: HtmlValue
  readonly more?: HtmlValue
  readonly actions?: HtmlValue
}

/**
 * A list within a card. On an open page its things keep their places: the sentence of a new one stands beside the heading,
 * where its room is, and leads to the whole list.
 */
export const heldList = (name: string, items: ReadonlyArray<Held>, none: string): Html =>
  html`<ul class="attention" data-held="${name}">${
    items.length === 0
      ? html`<li id="${name}-none" class="none">${note(none, "good")}</li>`
      : items.map(({ actions, id, more, sentence, tone }) =>
        html`<li id="${name}-${id}" class="${tone}">${icon("circle-alert")}<div><p>${sentence}</p>${
          more !== undefined && html`<p class="quiet">${more}</p>`
        }</div>${actions}</li>`
      )
  }</ul>`

/** A sentence that needs no action. */
export const note = (content: HtmlValue, tone: Tone = "quiet"): Html =>
  html`<p class="note ${tone}">${
    icon(tone === "good" ? "circle-check" : tone === "quiet" ? "book-open" : "circle-alert")
  }<span>${content}</span></p>`

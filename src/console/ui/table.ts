import { DateTime, Effect, Option, Stream } from "effect"
import { Html, html, type HtmlValue } from "../../platform/http/html.ts"
import type { Position } from "../../values/Page.ts"
import { type Key, marked } from "../language/Messages.ts"
import type { Ask } from "../page/Ask.ts"
import { withQuery } from "../page/Ask.ts"
import { localText } from "../page/Field.ts"
import { type Given, timeNames, zoneName } from "../page/filter.ts"
import { foreign, icon, listed, momentText, note } from "./parts.ts"

/** A column of a table. */
export interface Column<Row> {
  readonly label: string
  readonly cell: (row: Row) => HtmlValue
  /** Numbers stand at the end of the cell, below each other. */
  readonly kind?: "number" | "actions"
}

/** A table. On a narrow screen each row becomes a block, with the column's name before each value. */
export const table = <Row>(
  caption: string,
  columns: ReadonlyArray<Column<Row>>,
  rows: ReadonlyArray<Row>
): Html =>
  html`<table class="list"><caption class="hidden">${caption}</caption>
<thead><tr>${
    columns.map(({ kind, label }) =>
      html`<th scope="col"${kind !== undefined && new Html(` class="${kind}"`)}>${
        kind === "actions" ? html`<span class="hidden">${label}</span>` : label
      }</th>`
    )
  }</tr></thead>
<tbody>${
    rows.map((row) =>
      html`<tr>${
        columns.map(({ cell, kind, label }, index) => {
          const content = html`<span class="label" aria-hidden="true">${kind === "actions" ? "" : label}</span><span>${
            cell(row)
          }</span>`
          const look = kind !== undefined && new Html(` class="${kind}"`)
          return index === 0 ? html`<th scope="row"${look}>${content}</th>` : html`<td${look}>${content}</td>`
        })
      }</tr>\n`
    )
  }</tbody></table>`

interface Search {
  /** The parameter of the address, by default `q`. */
  readonly name?: string
  readonly label: string
  /** In the empty field; by default the label. */
  readonly hint?: string
  readonly button: string
  /** Further filters, below the field. */
  readonly more?: Html
}

/** The search of a list. What a person types is a parameter of the address. */
export const search = ({ path, query }: Ask, { button, label, hint = label, more, name = "q" }: Search): Html =>
  html`<form method="get" action="${path}" class="search" role="search" aria-label="${label}">
<div class="line"><label class="hidden" for="filter-${name}">${label}</label><input type="search" id="filter-${name}" name="${name}" value="${
    query.get(name) ?? ""
  }" placeholder="${hint}"><button class="main">${icon("search")}<span>${button}</span></button></div>${more}
</form>`

/** A field of a list's filter. `name` is the parameter of the address. */
interface FilterField {
  readonly name: string
  readonly label: string
  readonly hint?: string
}

/** A field of a filter with a few values. */
export const filterChoice = (
  { query, t }: Ask,
  { label, name, options }: FilterField & { readonly options: ReadonlyArray<readonly [value: string, label: string]> }
): Html => {
  const given = query.get(name) ?? ""
  // A value without a choice, such as the id of a revoked key, stays until a person chooses another one.
  const isOffered = given === "" || options.some(([value]) => value === given)
  const all = isOffered ? options : [...options, [given, given] as const]
  return html`<div class="field"><label for="filter-${name}">${label}</label><select id="filter-${name}" name="${name}"><option value="">${
    t.text("messages.any")
  }</option>${
    all.map(([value, text]) =>
      html`<option value="${value}"${given === value && new Html(" selected")}>${marked(text)}</option>`
    )
  }</select></div>`
}

const hidden = (name: string, values: ReadonlyArray<string>) =>
  values.map((value) => html`<input type="hidden" name="${name}" value="${value}">`)

/** A field of a filter that people type. It has the first of several values, and the others stay. */
export const filterText = ({ query }: Ask, { hint, label, name }: FilterField): Html => {
  const [first = "", ...others] = query.getAll(name)
  return html`<div class="field"><label for="filter-${name}">${label}</label><input id="filter-${name}" name="${name}" value="${first}"${
    hint !== undefined && html` aria-describedby="filter-${name}-hint"`
  }>${hidden(name, others)}${hint !== undefined && html`<p class="hint" id="filter-${name}-hint">${hint}</p>`}</div>`
}

/** A time of a filter, in the zone of the reader. */
const filterTime = (ask: Ask, name: "from_date" | "to_date"): Html => {
  const given = DateTime.make(Date.parse(ask.query.get(name) ?? ""))
  return html`<div class="field"><label for="filter-${name}">${
    ask.t.text(`messages.${name}`)
  }</label><input type="datetime-local" id="filter-${name}" name="${name}" value="${
    Option.isSome(given) && localText(ask, given.value)
  }" step="any"></div>`
}

/** The fields of a filter below the search, the last two for its time. The filters `kept` have no field and stay. */
export const filterFields = (ask: Ask, fields: Html, kept: ReadonlyArray<string> = []): Html => {
  const { query, t, timezone } = ask
  return html`<details class="filter"><summary>${icon("chevron-down")}<span>${
    t.text("messages.filter")
  }</span></summary><div class="fields">${fields}${filterTime(ask, "from_date")}${filterTime(ask, "to_date")}</div>${
    hidden(zoneName, [timezone])
  }<div class="buttons"><button>${t.text("messages.apply")}</button></div></details>${
    kept.flatMap((name) => hidden(name, query.getAll(name)))
  }`
}

/** A part of the filter of a list. `name` is the parameter of the address. */
export interface Chip {
  readonly name: string
  readonly label: string
  readonly value: string
}

/** The filter of a list as chips. Each is a link to the list without it. */
export const chips = (ask: Ask, given: ReadonlyArray<Chip>): Html | false =>
  given.length > 0 &&
  html`<ul class="chips">${
    given.map(({ label, name, value }) =>
      html`<li><a href="${withQuery(ask, { [name]: null, cursor: null })}" aria-label="${
        ask.t.text("common.removeFilter", { name: `${label}: ${value}` })
      }"><span>${marked(label)}: ${foreign(value)}</span>${icon("x")}</a></li>`
    )
  }</ul>`

/** What an address filters by: chips of the filters that apply, below a note that names those that the endpoint refuses. */
export const appliedFilters = <Name extends string>(
  ask: Ask,
  { refused, valid }: { readonly refused: ReadonlyArray<string>; readonly valid: Given<Name> },
  { labels, more = [], shown = (_, value) => value }: {
    readonly labels: Readonly<Record<Name, Key>>
    /** A value in the reader's language. */
    readonly shown?: (name: Name, value: string) => string
    /** Filters whose names are not fixed. */
    readonly more?: ReadonlyArray<Chip>
  }
): Html => {
  const { t } = ask
  return html`${refused.length > 0 && note(t.text("messages.ignored", { names: listed(ask, refused) }), "warn")}
${
    chips(ask, [
      ...valid.map(({ name, value }) => ({
        name,
        label: t.named(labels[name]) ?? name,
        value: listed(ask, [value].flat().map((one) => timeNames.has(name) ? momentText(ask, one) : shown(name, one)))
      })),
      ...more
    ])
  }`
}

/**
 * Links to the rows before and after these, and to the newest ones. A cursor is a parameter of the address; undefined where
 * there are none.
 */
export const pager = (
  ask: Ask,
  { newer, newest, older }: {
    readonly newest?: Readonly<Record<string, string | null>>
    readonly newer?: Readonly<Record<string, string | null>>
    readonly older?: Readonly<Record<string, string | null>>
  }
): Html | false =>
  (newest !== undefined || newer !== undefined || older !== undefined) &&
  html`<nav class="pager" aria-label="${ask.t.text("common.pages")}">
<span>${
    newest !== undefined && html`<a class="button" href="${withQuery(ask, newest)}">${ask.t.text("common.newest")}</a>`
  }${
    newer !== undefined &&
    html`<a class="button" rel="prev" href="${withQuery(ask, newer)}">${icon("arrow-left")}<span>${
      ask.t.text("common.newer")
    }</span></a>`
  }</span>
<span>${
    older !== undefined &&
    html`<a class="button" rel="next" href="${withQuery(ask, older)}"><span>${ask.t.text("common.older")}</span>${
      icon("arrow-right")
    }</a>`
  }</span>
</nav>`

/** Whether the address asks for the table of the page as a file (RFC 4180). */
export const wantsCsv = ({ query }: Ask): boolean => query.get("format") === "csv"

/** The address of this page's table as a file, with the same filter. */
export const csvHref = (ask: Ask): string => withQuery(ask, { format: "csv", cursor: null })

/** Programs take a text that begins with one of these as a formula and run it. */
const formula = /^[=+\-@\t\r]/

/**
 * One cell. A quotation mark in front keeps a text from being a formula; numbers stay as they are. Text that other people wrote
 * may begin with such a sign.
 */
const cellOf = (value: string | number): string => {
  if (typeof value === "number") return String(value)
  const text = formula.test(value) ? `'${value}` : value
  return /[",\r\n']/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text
}

/** One row with its line end. */
export const csvLine = (cells: ReadonlyArray<string | number>): string => `${cells.map(cellOf).join(",")}\r\n`

/** How many rows of a file one statement reads. */
const portion = 1000

/** A list as a file. Each portion is read when the reader has taken the one before. */
export const csvFile = <Row>(
  name: string,
  { columns, placeOf, read }: {
    readonly columns: Readonly<Record<string, (row: Row) => string | number>>
    readonly placeOf: (row: Row) => Position
    readonly read: (limit: number, after: Position | null) => Effect.Effect<ReadonlyArray<Row>>
  }
) => ({
  name,
  lines: Stream.concat(
    Stream.succeed(csvLine(Object.keys(columns))),
    Stream.paginate(null as Position | null, (after) =>
      Effect.map(read(portion, after), (rows) => {
        const last = rows.length < portion ? undefined : rows.at(-1)
        return [
          rows.map((row) => csvLine(Object.values(columns).map((cell) => cell(row)))),
          last === undefined ? Option.none<Position>() : Option.some(placeOf(last))
        ] as const
      }))
  )
})

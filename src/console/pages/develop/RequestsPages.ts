import { Effect, Option, Schema } from "effect"
import type { ApiKey } from "../../../api-keys/ApiKey.ts"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import { html } from "../../../platform/http/html.ts"
import { RequestId, type RequestRecord } from "../../../requests/RequestRecord.ts"
import { Requests } from "../../../requests/Requests.ts"
import { Method, RequestsApi } from "../../../requests/RequestsApi.ts"
import type { Key } from "../../language/Messages.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import { cursorsAround, pageOf, positionIn } from "../../page/cursor.ts"
import { filtersIn, tidied } from "../../page/filter.ts"
import { Page } from "../../page/Page.ts"
import { placeOf } from "../../page/placeOf.ts"
import {
  badge,
  card,
  code,
  copyable,
  curlOf,
  emptyState,
  facts,
  foreign,
  linkButton,
  moment,
  note,
  number,
  type Tone
} from "../../ui/parts.ts"
import { span } from "../../ui/progress.ts"
import {
  appliedFilters,
  type Column,
  filterChoice,
  filterFields,
  filterText,
  pager,
  search,
  table
} from "../../ui/table.ts"
import { keyChoice, keysOf, nameOf } from "../messages/messageParts.ts"

const perPage = 50

/** Most refused requests that the list groups by their errors, and most groups that it shows. */
const mostGrouped = 500
const mostGroups = 5

const names = [
  "request_id",
  "status",
  "error_type",
  "method",
  "path",
  "recipient",
  "key_id",
  "from_date",
  "to_date"
] as const
type Name = (typeof names)[number]

const labels: Readonly<Record<Name, Key>> = {
  request_id: "requests.id",
  status: "requests.status",
  error_type: "requests.errorType",
  method: "requests.method",
  path: "requests.path",
  recipient: "requests.recipient",
  key_id: "messages.key",
  from_date: "messages.from_date",
  to_date: "messages.to_date"
}

const toneOf = (status: number): Tone => status >= 500 ? "bad" : status >= 400 ? "warn" : "good"

const statusBadge = (status: number) => badge(String(status), toneOf(status))

const byOf = ({ t }: Ask, { key_prefix, person_id }: RequestRecord) =>
  key_prefix !== null ? code(`${key_prefix}…`) : t.text(person_id === null ? "requests.login" : "requests.console")

const requestOf = ({ method, path }: Pick<RequestRecord, "method" | "path">) => code(`${method} ${path}`)

const columns = (ask: AccountAsk): ReadonlyArray<Column<RequestRecord>> => {
  const { t, to } = ask
  return [
    { label: t.text("requests.status"), cell: ({ status }) => statusBadge(status) },
    {
      label: t.text("requests.request"),
      cell: (request) => html`<a href="${to(`/requests/${request.id}`)}">${requestOf(request)}</a>`
    },
    {
      label: t.text("requests.error"),
      cell: ({ error }) => error === null ? t.text("common.none") : code(error.type)
    },
    { label: t.text("requests.by"), cell: (request) => html`${byOf(ask, request)}<br>${code(request.ip)}` },
    { label: t.text("requests.duration"), kind: "number", cell: ({ duration_ms }) => span(ask, duration_ms) },
    { label: t.text("requests.when"), cell: ({ created_at }) => moment(ask, created_at) }
  ]
}

interface Group {
  readonly type: string
  readonly method: string
  readonly route: string
  readonly count: number
}

/** Refused requests by their error and their endpoint, the most frequent first. */
const groupsOf = (
  refused: ReadonlyArray<Pick<RequestRecord, "error" | "method" | "route">>
): ReadonlyArray<Group> => {
  const groups = new Map<string, Group>()
  for (const { error, method, route } of refused) {
    const type = error?.type ?? ""
    const key = `${type} ${method} ${route}`
    groups.set(key, { type, method, route, count: (groups.get(key)?.count ?? 0) + 1 })
  }
  return [...groups.values()].toSorted((one, other) => other.count - one.count).slice(0, mostGroups)
}

/** The filter of a group: the path of its endpoint up to the first parameter. */
const groupHref = ({ to }: AccountAsk, { method, route, type }: Group) =>
  `${to("/requests")}?${new URLSearchParams({ error_type: type, method, path: route.split("/:")[0] ?? route })}`

const groupColumns = (ask: AccountAsk): ReadonlyArray<Column<Group>> => {
  const { t } = ask
  return [
    {
      label: t.text("requests.errorType"),
      cell: (group) => html`<a href="${groupHref(ask, group)}">${code(group.type)}</a>`
    },
    { label: t.text("requests.request"), cell: ({ method, route }) => requestOf({ method, path: route }) },
    { label: t.text("requests.count"), kind: "number", cell: ({ count }) => number(ask, count) }
  ]
}

const classes = ["2xx", "4xx", "5xx"] as const

const searchOf = (ask: AccountAsk, keys: ReadonlyArray<ApiKey>) => {
  const { t } = ask
  const fields = html`${
    filterChoice(ask, {
      name: "status",
      label: t.text("requests.status"),
      options: classes.map((one) => [one, t.text(`requests.status.${one}`)])
    })
  }${
    filterChoice(ask, {
      name: "method",
      label: t.text("requests.method"),
      options: Method.literals.map((method) => [method, method])
    })
  }${filterText(ask, { name: "path", label: t.text("requests.path"), hint: t.text("messages.toHint") })}${
    filterText(ask, { name: "error_type", label: t.text("requests.errorType") })
  }${
    filterText(ask, { name: "recipient", label: t.text("requests.recipient"), hint: t.text("requests.recipientHint") })
  }${keyChoice(ask, keys)}`
  return search(ask, {
    name: "request_id",
    label: t.text("requests.id"),
    hint: t.text("requests.idHint"),
    button: t.text("messages.search"),
    more: filterFields(ask, fields)
  })
}

const shown = ({ t }: Ask, keys: ReadonlyArray<ApiKey>) => (name: Name, value: string) => {
  if (name === "key_id") return nameOf(keys, value)
  return name === "status" ? t.named(`requests.status.${value}`) ?? value : value
}

const nothing = ({ path, t }: AccountAsk, isFiltered: boolean) =>
  isFiltered
    ? emptyState({
      icon: "search",
      title: t.text("requests.none.title"),
      text: t.text("requests.none.text"),
      button: linkButton(path, t.text("requests.all"))
    })
    : emptyState({ icon: "list", title: t.text("requests.empty.title"), text: t.text("requests.empty.text") })

/** The log of requests, newest first. An id alone leads to its request. */
const list = Page.account({
  path: "/requests",
  permission: "requests:read",
  entry: { group: "develop", label: "nav.requests", icon: "list", order: 2, key: "r" },
  read: (ask) =>
    Effect.gen(function*() {
      const filtered = filtersIn(ask, RequestsApi.endpoints.list, names)
      const requests = yield* Requests
      const { accountId, query } = ask
      const after = positionIn(ask, Schema.Tuple([RequestId]))
      const rows = yield* requests.list(accountId, filtered.filter ?? {}, { limit: perPage + 1, offset: 0, after })
      const isStart = filtered.valid.length === 0 && !query.has("cursor")
      const groups = isStart && rows.length > 0
        ? groupsOf(yield* requests.list(accountId, { status: "4xx" }, { limit: mostGrouped, offset: 0, after: null }))
        : []
      return { filtered, groups, keys: yield* keysOf(ask), page: pageOf(rows, perPage, ({ id }) => [id]) }
    }),
  draw: ({ filtered, groups, keys, page: { older, rows } }, given) => {
    const ask = tidied(given, filtered.valid)
    const { query, t, to } = ask
    const isFirst = !given.query.has("cursor")
    const [only] = rows
    const [filter] = filtered.valid
    return {
      title: t.text("requests.title"),
      lead: t.text("requests.lead"),
      curl: query.size === 0 ? "/v1/requests" : `/v1/requests?${query}`,
      ...(filter?.name === "request_id" && filtered.valid.length === 1 && only !== undefined &&
        { leadsTo: to(`/requests/${only.id}`) }),
      content: rows.length === 0 && filtered.valid.length === 0 && filtered.refused.length === 0 && isFirst
        ? nothing(ask, false)
        : html`${searchOf(ask, keys)}
${appliedFilters(ask, filtered, { labels, shown: shown(ask, keys) })}
${
          rows.length === 0
            ? nothing(ask, true)
            : table(t.text("requests.caption"), columns(ask), rows)
        }
${pager(ask, cursorsAround(given, older))}
${
          groups.length > 0 &&
          html`<h2>${t.text("requests.groups")}</h2>${
            table(t.text("requests.groupsCaption"), groupColumns(ask), groups)
          }`
        }`
    }
  }
})

/** What became of a request, in one sentence. */
const sentenceOf = (ask: Ask, { duration_ms, error, status }: RequestRecord) => {
  const { t } = ask
  if (status < 400) return t.text("request.done", { status, span: span(ask, duration_ms) })
  const reason = error?.message ?? ""
  return t.rich(status < 500 ? "request.refused" : "request.failed", { status, reason: foreign(reason) })
}

const faultColumns = ({ t }: Ask): ReadonlyArray<
  Column<NonNullable<NonNullable<RequestRecord["error"]>["errors"]>[number]>
> => [
  { label: t.text("request.field"), cell: ({ param }) => code(param) },
  { label: t.text("request.fault"), cell: ({ message }) => foreign(message) }
]

const whyOf = (ask: Ask, { error }: RequestRecord) => {
  const { t } = ask
  if (error === null) return false
  const { errors = [], type } = error
  return card(
    t.text("request.why"),
    html`${facts([[t.text("requests.errorType"), code(type)]])}${
      errors.length > 0 && table(t.text("request.faultsCaption"), faultColumns(ask), errors)
    }<div class="buttons">${
      linkButton(`/docs/guides/errors#${encodeURIComponent(type)}`, t.text("request.help"), { icon: "book-open" })
    }</div>`,
    "why"
  )
}

const madeOf = ({ t, to }: AccountAsk, { made }: RequestRecord) => {
  if (made === null) return false
  const place = placeOf(made)
  return card(
    t.text("request.made"),
    html`<p>${place === undefined ? code(made) : html`<a href="${to(place)}">${code(made)}</a>`}</p>`,
    "made"
  )
}

const factsOf = (ask: AccountAsk, request: RequestRecord) => {
  const { t } = ask
  return facts([
    [t.text("requests.id"), code(request.id)],
    [t.text("requests.when"), moment(ask, request.created_at)],
    [t.text("requests.status"), statusBadge(request.status)],
    [t.text("requests.duration"), span(ask, request.duration_ms)],
    [t.text("requests.by"), byOf(ask, request)],
    [t.text("requests.ip"), code(request.ip)]
  ])
}

const decodeId = Schema.decodeUnknownOption(RequestId)

/** One request: what became of it, why, and what it made. */
const one = Page.account({
  path: "/requests/:id",
  permission: "requests:read",
  read: ({ accountId, params }) =>
    Effect.gen(function*() {
      const id = decodeId(params["id"])
      if (Option.isNone(id)) return yield* new NotFound()
      return yield* (yield* Requests).find(accountId, id.value)
    }),
  draw: (request, ask) => {
    const { t, to } = ask
    const { id, method, path, status } = request
    const isWithBody = method === "POST" || method === "PUT" || method === "PATCH"
    return {
      title: `${method} ${path}`,
      crumbs: [{ href: to("/requests"), label: t.text("requests.title") }],
      curl: `/v1/requests/${id}`,
      content: html`<div class="why">${note(sentenceOf(ask, request), toneOf(status))}</div>
<div class="cards two"><div class="cards">${whyOf(ask, request)}${madeOf(ask, request)}${
        card(
          t.text("request.again"),
          html`${isWithBody && html`<p>${t.text("request.againText")}</p>`}${
            copyable(ask, curlOf(ask, { method, path }), { label: t.text("request.again"), isBlock: true })
          }`,
          "again"
        )
      }</div><div class="cards">${card(t.text("message.facts"), factsOf(ask, request), "facts")}</div></div>`
    }
  }
})

/** The log of requests. */
export const requestsPages = [list, one] as const

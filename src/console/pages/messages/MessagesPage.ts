import { Effect, Option, Schema } from "effect"
import type { ApiKey } from "../../../api-keys/ApiKey.ts"
import type { Session } from "../../../channels/whatsapp/model/Session.ts"
import { Sessions } from "../../../channels/whatsapp/sessions/Sessions.ts"
import { AllMessages, Seen, seenOn, type SummaryFilter, SummaryPosition } from "../../../history/AllMessages.ts"
import { HistoryApi } from "../../../history/HistoryApi.ts"
import { AnyStatus, type MessageSummary, type SummaryChannel } from "../../../messages/MessageSummary.ts"
import { html } from "../../../platform/http/html.ts"
import { metadataKeyOf, metadataName } from "../../../values/Labels.ts"
import type { Key } from "../../language/Messages.ts"
import { type AccountAsk, type Ask, withQuery } from "../../page/Ask.ts"
import { cursorsAround, pageOf, positionIn } from "../../page/cursor.ts"
import { filtersIn, tidied } from "../../page/filter.ts"
import { Page } from "../../page/Page.ts"
import { code, emptyState, foreign, linkButton, moment, number } from "../../ui/parts.ts"
import {
  appliedFilters,
  type Column,
  csvHref,
  filterChoice,
  filterFields,
  filterText,
  pager,
  search,
  table,
  wantsCsv
} from "../../ui/table.ts"
import {
  channelPermissions,
  channelsOf,
  keyChoice,
  keysOf,
  nameOf,
  recipients,
  senderOf,
  statusBadge
} from "./messageParts.ts"
import { messagesCsv } from "./messagesCsv.ts"

const perPage = 50

/** The filters of the address, each with the text of its name. */
const names = [
  "q",
  "channel",
  "direction",
  "status",
  "to",
  "domain",
  "key_id",
  "tag",
  "batch_id",
  "session_id",
  "error_code",
  "from_date",
  "to_date"
] as const
type Name = (typeof names)[number]

const texts: Readonly<Record<Name, Key>> = {
  q: "messages.q",
  channel: "messages.channel",
  direction: "messages.direction",
  status: "messages.status",
  to: "messages.to",
  domain: "messages.domain",
  key_id: "messages.key",
  tag: "messages.tag",
  batch_id: "messages.batch",
  session_id: "message.session",
  error_code: "message.code",
  from_date: "messages.from_date",
  to_date: "messages.to_date"
}

/**
 * The filter by metadata: parameters `metadata[KEY]`, as the endpoint has them, and the text that a person types,
 * `KEY=VALUE`.
 */
const metadataIn = ({ query }: Ask) => {
  const typed = query.get("metadata") ?? ""
  const [, name, text] = /^([^=\0]{1,40})=([^\0]+)$/.exec(typed) ?? []
  const entries = [...query].flatMap(([parameter, value]): ReadonlyArray<readonly [key: string, value: string]> => {
    const key = metadataKeyOf(parameter)
    return key === undefined || `${key}${value}`.includes("\0") ? [] : [[key, value]]
  })
  return {
    metadata: new Map(name === undefined || text === undefined ? entries : [...entries, [name.trim(), text.trim()]]),
    isRefused: typed !== "" && name === undefined
  }
}

/** The sender of a received message, or the recipients of another one. */
const parties = (ask: Ask, { direction, from, to }: MessageSummary) =>
  direction === "in"
    ? html`<span class="quiet">${ask.t.text("message.from")}</span> ${senderOf(ask, from)}`
    : recipients(ask, to)

/** The columns of a list of messages. */
export const messageColumns = (ask: AccountAsk): ReadonlyArray<Column<MessageSummary>> => {
  const { t, to } = ask
  return [
    { label: t.text("messages.status"), cell: ({ status }) => statusBadge(ask, status) },
    { label: t.text("messages.channel"), cell: ({ channel }) => t.text(`channel.${channel}`) },
    {
      label: t.text("messages.to"),
      cell: (message) =>
        html`<a href="${to(`/messages/${message.channel}/${message.id}`)}">${parties(ask, message)}</a>`
    },
    {
      label: t.text("messages.text"),
      cell: ({ preview }) =>
        preview === ""
          ? html`<span class="quiet">${t.text("messages.noText")}</span>`
          : html`<span class="clamp">${foreign(preview)}</span>`
    },
    { label: t.text("messages.tags"), cell: ({ tags }) => html`${tags.map((tag) => html`${code(tag)} `)}` },
    { label: t.text("messages.when"), cell: ({ created_at }) => moment(ask, created_at) }
  ]
}

/** The sessions and the keys that the filter offers. */
interface Offered {
  readonly sessions: ReadonlyArray<Session>
  readonly keys: ReadonlyArray<ApiKey>
}

/** The search with the filter below it. */
const searchOf = (ask: AccountAsk, { keys, kept, sessions }: Offered & { readonly kept: ReadonlyArray<string> }) => {
  const { t } = ask
  const fields = html`${
    filterChoice(ask, {
      name: "channel",
      label: t.text("messages.channel"),
      options: channelsOf(ask, "read").map((channel) => [channel, t.text(`channel.${channel}`)])
    })
  }${
    filterChoice(ask, {
      name: "direction",
      label: t.text("messages.direction"),
      options: (["out", "in"] as const).map((direction) => [direction, t.text(`messages.direction.${direction}`)])
    })
  }${
    filterChoice(ask, {
      name: "status",
      label: t.text("messages.status"),
      options: AnyStatus.literals.map((status) => [status, t.text(`status.${status}`)])
    })
  }${filterText(ask, { name: "to", label: t.text("messages.to"), hint: t.text("messages.toHint") })}${
    filterText(ask, { name: "domain", label: t.text("messages.domain"), hint: t.text("messages.domainHint") })
  }${keyChoice(ask, keys)}${filterText(ask, { name: "tag", label: t.text("messages.tag") })}${
    filterText(ask, { name: "metadata", label: t.text("message.metadata"), hint: t.text("messages.metadataHint") })
  }${filterText(ask, { name: "error_code", label: t.text("message.code") })}${
    (sessions.length > 0 || ask.query.has("session_id")) && filterChoice(ask, {
      name: "session_id",
      label: t.text("message.session"),
      options: sessions.map(({ id, name }) => [String(id), name])
    })
  }`
  return search(ask, {
    label: t.text("messages.q"),
    hint: t.text("messages.searchHint"),
    button: t.text("messages.search"),
    more: filterFields(ask, fields, ["batch_id", ...kept])
  })
}

const shownAs = ({ t }: Ask, { keys, sessions }: Offered) => (name: Name, value: string) => {
  if (name === "session_id") return nameOf(sessions, value)
  if (name === "key_id") return nameOf(keys, value)
  if (name === "channel") return t.named(`channel.${value}`) ?? value
  if (name === "direction") return t.named(`messages.direction.${value}`) ?? value
  return name === "status" ? t.named(`status.${value}`) ?? value : value
}

const nothing = ({ can, path, t, to }: AccountAsk, isFiltered: boolean) =>
  isFiltered
    ? emptyState({
      icon: "search",
      title: t.text("messages.emptySearch.title"),
      text: t.text("messages.emptySearch.text"),
      button: linkButton(path, t.text("messages.all"))
    })
    : emptyState({
      icon: "inbox",
      title: t.text("messages.empty.title"),
      text: t.text("messages.empty.text"),
      button: can("messages:write") && linkButton(to("/send"), t.text("messages.send"), { icon: "send", tone: "main" })
    })

/** Most sessions that the filter offers. */
const mostSessions = 100

/** The sessions of the account, if its person may see them. */
const sessionsOf = Effect.fnUntraced(function*({ accountId, can }: AccountAsk) {
  if (!can("sessions:read") || !can(channelPermissions.whatsapp.read)) return []
  return (yield* (yield* Sessions).list(accountId, {}, { limit: mostSessions, offset: 0, after: null })).rows
})

/** The messages that a list selects, of the channels that its reader may see. */
interface Filter {
  readonly channels: ReadonlySet<SummaryChannel>
  readonly wanted: SummaryFilter
}

/** Seconds between two looks for new messages. */
const lookPause = 10

/** Up to so many new messages are counted. */
const mostNew = 99

/** What the open page shows, and whether it has rows. */
const Shown = Schema.fromJsonString(Schema.Struct({ seen: Seen, hasRows: Schema.Boolean }))
type Shown = typeof Shown.Type

const decodeShown = Schema.decodeUnknownOption(Shown)
const encodeShown = Schema.encodeSync(Shown)

/** The list of a filter, or the new messages since the page was drawn. */
const look = Effect.fnUntraced(function*(ask: AccountAsk, filter: Filter, shown: Shown | undefined) {
  const messages = yield* AllMessages
  const { channels, wanted } = filter
  const of = { accountId: ask.accountId, channels }
  if (shown !== undefined) {
    // A list that has too many new ones is not looked at again.
    const { count, isMore, seen } = shown.seen.count > mostNew
      ? { ...shown.seen, seen: shown.seen }
      : yield* messages.added(of, wanted, shown.seen)
    return { page: undefined, shown: { seen, hasRows: shown.hasRows }, news: { count, isMore } }
  }
  const isFirst = !ask.query.has("cursor")
  // Before the list: a message that comes in between is on the list, too.
  const marks = isFirst ? yield* messages.marks(ask.accountId) : []
  const rows = yield* messages.list(of, wanted, {
    limit: perPage + 1,
    offset: 0,
    after: positionIn(ask, SummaryPosition)
  })
  const page = pageOf(rows, perPage, ({ position }) => position)
  const seen = isFirst ? seenOn(marks, page.rows, page.older !== undefined) : undefined
  return { page, shown: seen && { seen, hasRows: page.rows.length > 0 }, news: { count: 0, isMore: false } }
})

/**
 * Leads to this list as it is now. A button that says how many messages are new, so that no row moves while a person reads. The
 * status of a message changes, so a list of one status says only that there are new ones.
 */
const refreshButton = (ask: Ask, { count, isMore }: { readonly count: number; readonly isMore: boolean }) => {
  const { query, t } = ask
  const isCounted = !query.has("status") && !query.has("error_code")
  const shown = `${number(ask, Math.min(count, mostNew))}${isMore || count > mostNew ? "+" : ""}`
  const label = count === 0
    ? t.text("message.refresh")
    : isCounted
    ? t.text("messages.new", { count: shown })
    : t.text("messages.newOnes")
  return html`<span class="news" data-name="news" role="status">${
    linkButton(withQuery(ask, {}), label, { icon: "refresh-cw", ...(count > 0 && { tone: "main" }) })
  }</span>`
}

/** The messages of all channels, newest first. */
export const messagesPage = Page.account({
  path: "/messages",
  permission: "messages:read",
  entry: { group: "", label: "nav.messages", icon: "inbox", order: 2, key: "m" },
  read: (ask) =>
    Effect.gen(function*() {
      const filtered = filtersIn(ask, HistoryApi.endpoints.list, names)
      const labelled = metadataIn(ask)
      const { channel, tag, ...filter } = filtered.filter ?? {}
      const channels = new Set(channelsOf(ask, "read").filter((one) => channel === undefined || channel === one))
      const wanted = { ...filter, tags: [tag ?? []].flat(), metadata: Object.fromEntries(labelled.metadata) }
      const shared = { filtered, labelled, file: undefined, offered: undefined }
      if (wantsCsv(ask)) {
        const messages = yield* AllMessages
        const file = messagesCsv((limit, after) =>
          messages.list({ accountId: ask.accountId, channels }, wanted, { limit, offset: 0, after })
        )
        return { ...shared, page: undefined, shown: undefined, news: { count: 0, isMore: false }, file }
      }
      const found = yield* look(ask, { channels, wanted }, Option.getOrUndefined(decodeShown(ask.since)))
      if (found.page === undefined) return { ...shared, ...found }
      return { ...shared, ...found, offered: { sessions: yield* sessionsOf(ask), keys: yield* keysOf(ask) } }
    }),
  draw: ({ file, filtered, labelled: { isRefused, metadata }, news, offered, page, shown }, given) => {
    const labels = [...metadata].map(([key, value]) => ({ name: metadataName(key), label: key, value }))
    const ask = tidied(given, [...filtered.valid, ...labels])
    const { can, query, t, to } = ask
    const isFiltered = filtered.valid.length + labels.length > 0
    const isFirst = !given.query.has("cursor")
    const hasRows = shown?.hasRows ?? (page !== undefined && page.rows.length > 0)
    const isStart = page !== undefined && !hasRows && !isFiltered && isFirst
    return {
      title: t.text("messages.title"),
      isLive: isFirst && lookPause,
      ...(shown !== undefined && !isStart && { since: encodeShown(shown) }),
      curl: query.size === 0 ? "/v1/messages" : `/v1/messages?${query}`,
      ...(file !== undefined && { file }),
      buttons: !isStart &&
        html`${isFirst && refreshButton(ask, news)}${
          hasRows && linkButton(csvHref(ask), t.text("messages.export"), { icon: "download" })
        }${can("messages:write") && linkButton(to("/send"), t.text("messages.send"), { icon: "send", tone: "main" })}`,
      content: isStart
        ? nothing(ask, false)
        : html`<div id="found" data-kept hx-morph-skip>${
          page !== undefined && offered !== undefined && html`${
            searchOf(ask, { kept: labels.map(({ name }) => name), ...offered })
          }
${
            appliedFilters(ask, {
              valid: filtered.valid,
              refused: [...filtered.refused, ...(isRefused ? ["metadata"] : [])]
            }, { labels: texts, shown: shownAs(ask, offered), more: labels })
          }
${
            hasRows
              ? table(t.text("messages.caption"), messageColumns(ask), page.rows.map(({ summary }) => summary))
              : nothing(ask, isFiltered)
          }
${pager(ask, cursorsAround(given, page.older))}`
        }</div>`
    }
  }
})

import { Effect } from "effect"
import type { ApiKey } from "../../../api-keys/ApiKey.ts"
import type { Session } from "../../../channels/whatsapp/model/Session.ts"
import { Sessions } from "../../../channels/whatsapp/sessions/Sessions.ts"
import { AllMessages, SummaryPosition } from "../../../history/AllMessages.ts"
import { HistoryApi } from "../../../history/HistoryApi.ts"
import { AnyStatus, type MessageSummary } from "../../../messages/MessageSummary.ts"
import { html } from "../../../platform/http/html.ts"
import { metadataKeyOf, metadataName } from "../../../values/Labels.ts"
import type { Position } from "../../../values/Page.ts"
import type { Key } from "../../language/Messages.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import { cursorsAround, pageOf, positionIn } from "../../page/cursor.ts"
import { filtersIn, tidied } from "../../page/filter.ts"
import { Page } from "../../page/Page.ts"
import { code, emptyState, foreign, linkButton, moment } from "../../ui/parts.ts"
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
import { channelPermissions, channelsOf, keyChoice, keysOf, nameOf, recipients, statusBadge } from "./messageParts.ts"
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

/** The columns of a list of messages. */
export const messageColumns = (ask: AccountAsk): ReadonlyArray<Column<MessageSummary>> => {
  const { t, to } = ask
  return [
    { label: t.text("messages.status"), cell: ({ status }) => statusBadge(ask, status) },
    { label: t.text("messages.channel"), cell: ({ channel }) => t.text(`channel.${channel}`) },
    {
      label: t.text("messages.to"),
      cell: (message) =>
        html`<a href="${to(`/messages/${message.channel}/${message.id}`)}">${recipients(ask, message.to)}</a>`
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

const shown = ({ t }: Ask, { keys, sessions }: Offered) => (name: Name, value: string) => {
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
      const messages = yield* AllMessages
      const wanted = { ...filter, tags: [tag ?? []].flat(), metadata: Object.fromEntries(labelled.metadata) }
      const read = (limit: number, after: Position | null) =>
        messages.list({ accountId: ask.accountId, channels }, wanted, { limit, offset: 0, after })
      const offered = { sessions: yield* sessionsOf(ask), keys: yield* keysOf(ask) }
      const shared = { filtered, labelled, offered }
      if (wantsCsv(ask)) return { ...shared, page: pageOf([], perPage, () => []), file: messagesCsv(read) }
      const rows = yield* read(perPage + 1, positionIn(ask, SummaryPosition))
      return { ...shared, page: pageOf(rows, perPage, ({ position }) => position), file: undefined }
    }),
  draw: ({ file, filtered, labelled: { isRefused, metadata }, offered, page: { older, rows } }, given) => {
    const labels = [...metadata].map(([key, value]) => ({ name: metadataName(key), label: key, value }))
    const ask = tidied(given, [...filtered.valid, ...labels])
    const { can, query, t, to } = ask
    const isFiltered = filtered.valid.length + labels.length > 0
    const isFirst = !given.query.has("cursor")
    const isStart = rows.length === 0 && !isFiltered && isFirst
    return {
      title: t.text("messages.title"),
      curl: query.size === 0 ? "/v1/messages" : `/v1/messages?${query}`,
      ...(file !== undefined && { file }),
      buttons: !isStart &&
        html`${rows.length > 0 && linkButton(csvHref(ask), t.text("messages.export"), { icon: "download" })}${
          can("messages:write") && linkButton(to("/send"), t.text("messages.send"), { icon: "send", tone: "main" })
        }`,
      content: isStart
        ? nothing(ask, false)
        : html`${searchOf(ask, { kept: labels.map(({ name }) => name), ...offered })}
${
          appliedFilters(ask, {
            valid: filtered.valid,
            refused: [...filtered.refused, ...(isRefused ? ["metadata"] : [])]
          }, { labels: texts, shown: shown(ask, offered), more: labels })
        }
${
          rows.length === 0
            ? nothing(ask, isFiltered)
            : table(t.text("messages.caption"), messageColumns(ask), rows.map(({ summary }) => summary))
        }
${pager(ask, cursorsAround(given, older))}`
    }
  }
})

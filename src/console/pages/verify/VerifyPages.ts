import { Effect, Schema } from "effect"
import { html } from "../../../platform/http/html.ts"
import { VerificationId } from "../../../values/Ids.ts"
import { type BlockedPrefix, CodeChannel, type Verification, VerificationStatus } from "../../../verify/Verification.ts"
import { Verifications } from "../../../verify/Verifications.ts"
import { VerifyApi } from "../../../verify/VerifyApi.ts"
import type { Key } from "../../language/Messages.ts"
import { Action, goTo } from "../../page/Action.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import { cursorsAround, Instant, pageOf, positionIn } from "../../page/cursor.ts"
import { Field } from "../../page/Field.ts"
import { filtersIn, tidied } from "../../page/filter.ts"
import { Page } from "../../page/Page.ts"
import { buttonForm, refusalOf } from "../../ui/form.ts"
import { code, emptyState, foreign, linkButton, moment, number } from "../../ui/parts.ts"
import { appliedFilters, type Column, filterChoice, filterFields, filterText, pager, table } from "../../ui/table.ts"
import { codeStatusBadge } from "../messages/messageParts.ts"
import { codePages, crumbs } from "./CodePages.ts"
import { verifyFiguresPage } from "./VerifyFiguresPage.ts"

const perPage = 50

const columns = (ask: AccountAsk): ReadonlyArray<Column<Verification>> => {
  const { t, to } = ask
  return [
    {
      label: t.text("messages.to"),
      cell: ({ id, to: recipient }) => html`<a href="${to(`/verify/${id}`)}">${foreign(recipient)}</a>`
    },
    { label: t.text("messages.status"), cell: ({ status }) => codeStatusBadge(ask, status) },
    { label: t.text("messages.channel"), cell: ({ channel }) => t.text(`channel.${channel}`) },
    {
      label: t.text("verify.attempts"),
      kind: "number",
      cell: ({ attempts_remaining }) => number(ask, attempts_remaining)
    },
    { label: t.text("messages.when"), cell: ({ created_at }) => moment(ask, created_at) }
  ]
}

/** The filters of the address, each with the text of its name. */
const names = ["status", "channel", "to", "from_date", "to_date"] as const
type Name = (typeof names)[number]

const labels: Readonly<Record<Name, Key>> = {
  status: "messages.status",
  channel: "messages.channel",
  to: "messages.to",
  from_date: "messages.from_date",
  to_date: "messages.to_date"
}

const filterOf = (ask: AccountAsk) => {
  const { path, t } = ask
  const fields = html`${filterText(ask, { name: "to", label: t.text("messages.to"), hint: t.text("verify.toHint") })}${
    filterChoice(ask, {
      name: "status",
      label: t.text("messages.status"),
      options: VerificationStatus.literals.map((status) => [status, t.text(`verify.status.${status}`)])
    })
  }${
    filterChoice(ask, {
      name: "channel",
      label: t.text("messages.channel"),
      options: CodeChannel.literals.map((channel) => [channel, t.text(`channel.${channel}`)])
    })
  }`
  return html`<form method="get" action="${path}" class="search" role="search" aria-label="${
    t.text("messages.filter")
  }">${filterFields(ask, fields)}</form>`
}

const shown = ({ t }: Ask) => (name: Name, value: string) => {
  if (name === "channel") return t.named(`channel.${value}`) ?? value
  return name === "status" ? t.named(`verify.status.${value}`) ?? value : value
}

const Place = Schema.Tuple([Instant, VerificationId])

const list = Page.account({
  path: "/verify",
  permission: "verify:read",
  entry: { group: "verify", label: "nav.verify", icon: "shield-check", order: 1, key: "v" },
  read: (ask) =>
    Effect.gen(function*() {
      const filtered = filtersIn(ask, VerifyApi.endpoints.list, names)
      const { rows } = yield* (yield* Verifications).list(ask.accountId, filtered.filter ?? {}, {
        limit: perPage + 1,
        offset: 0,
        after: positionIn(ask, Place)
      })
      return { filtered, page: pageOf(rows, perPage, ({ created_at, id }) => [created_at, id]) }
    }),
  draw: ({ filtered, page: { older, rows } }, given) => {
    const ask = tidied(given, filtered.valid)
    const { can, path, query, t, to } = ask
    const isFirst = !given.query.has("cursor")
    const isFiltered = filtered.valid.length > 0
    const button = can("verify:write") &&
      linkButton(to("/verify/new"), t.text("verify.new"), { icon: "send", tone: "main" })
    const none = isFiltered
      ? emptyState({
        icon: "search",
        title: t.text("verify.emptySearch.title"),
        text: t.text("verify.emptySearch.text"),
        button: linkButton(path, t.text("verify.all"))
      })
      : emptyState({
        icon: "shield-check",
        title: t.text("verify.empty.title"),
        text: t.text("verify.empty.text"),
        button
      })
    const isStart = rows.length === 0 && !isFiltered && isFirst
    return {
      title: t.text("nav.verify"),
      lead: t.text("verify.lead"),
      curl: query.size === 0 ? "/v1/verify/status" : `/v1/verify/status?${query}`,
      buttons: html`${linkButton(to("/verify/figures"), t.text("verify.figures"), { icon: "activity" })}${
        linkButton(to("/verify/blocks"), t.text("verify.blocks"), { icon: "ban" })
      }${!isStart && button}`,
      content: html`${!isStart && filterOf(ask)}
${appliedFilters(ask, filtered, { labels, shown: shown(ask) })}
${rows.length === 0 ? none : table(t.text("verify.caption"), columns(ask), rows)}
${pager(ask, cursorsAround(given, older))}`
    }
  }
})

const release = Action.make({
  name: "release",
  endpoint: VerifyApi.endpoints.release,
  fields: { prefix: Field.hidden() },
  request: ({ prefix }) => ({ params: { prefix } }),
  after: (_, { ask }) => goTo(ask.path, "verify.blocks.released")
})

const blockColumns = (ask: AccountAsk): ReadonlyArray<Column<BlockedPrefix>> => {
  const { can, t } = ask
  return [
    { label: t.text("verify.blocks.prefix"), cell: ({ prefix }) => code(prefix) },
    { label: t.text("verify.blocks.since"), cell: ({ since }) => moment(ask, since) },
    { label: t.text("verify.blocks.until"), cell: ({ until }) => moment(ask, until) },
    ...(can("verify:write")
      ? [{
        label: t.text("verify.blocks.release"),
        kind: "actions" as const,
        cell: ({ prefix }: BlockedPrefix) =>
          buttonForm(ask, release, {
            label: html`${t.text("verify.blocks.release")}<span class="hidden"> ${prefix}</span>`,
            values: { prefix }
          })
      }]
      : [])
  ]
}

const blocks = Page.account({
  path: "/verify/blocks",
  permission: "verify:read",
  read: ({ accountId }) => Effect.flatMap(Verifications, (verifications) => verifications.blocks(accountId)),
  draw: (rows, ask) => {
    const { t } = ask
    return {
      title: t.text("verify.blocks"),
      lead: t.text("verify.blocks.lead"),
      crumbs: crumbs(ask),
      curl: "/v1/verify/blocks",
      content: html`${refusalOf(ask)}${
        rows.length === 0
          ? emptyState({
            icon: "circle-check",
            title: t.text("verify.blocks.empty.title"),
            text: t.text("verify.blocks.empty.text")
          })
          : table(t.text("verify.blocks.caption"), blockColumns(ask), rows)
      }`
    }
  },
  actions: [release]
})

/** The pages of one-time codes: the list, the figures, the blocked numbers, a new one, one of them. */
export const verifyPages = [list, verifyFiguresPage, blocks, ...codePages] as const

import { Effect, Schema } from "effect"
import type { Session, SessionFigures } from "../../../channels/whatsapp/model/Session.ts"
import { OutboxFigures } from "../../../channels/whatsapp/outbox/OutboxFigures.ts"
import { Sessions } from "../../../channels/whatsapp/sessions/Sessions.ts"
import { SessionsApi } from "../../../channels/whatsapp/sessions/SessionsApi.ts"
import { html } from "../../../platform/http/html.ts"
import { Action, goTo } from "../../page/Action.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import { cursorsAround, pageOf, positionIn } from "../../page/cursor.ts"
import { Field } from "../../page/Field.ts"
import { Page } from "../../page/Page.ts"
import { form } from "../../ui/form.ts"
import { emptyState, foreign, linkButton, moment } from "../../ui/parts.ts"
import { type Column, pager, table } from "../../ui/table.ts"
import { type Counting, countOf, listCrumbs, ofLimit, ownNumber, statusBadge } from "./sessionParts.ts"

const perPage = 25

/** A session of the list. Its figures are absent if it was deleted meanwhile. */
interface Row extends Session {
  readonly figures: SessionFigures | undefined
}

const status = (ask: Ask, { figures, status }: Row) =>
  html`${statusBadge(ask, status)}${
    figures !== undefined &&
    html` <span class="quiet">${ask.t.rich("sessions.since", { when: moment(ask, figures.status_since) })}${
      figures.reason !== null && html`: ${ask.t.text(`sessions.why.${figures.reason}`)}`
    }</span>`
  }`

const columns = (ask: AccountAsk, counting: Counting): ReadonlyArray<Column<Row>> => {
  const { t, to } = ask
  const { limits: { perDay, perMinute } } = counting
  const sent = (count: number, limit: number) =>
    limit === 0 ? countOf(ask, counting, count) : ofLimit(ask, count, limit)
  const counted = (label: string, count: (figures: SessionFigures) => string): Column<Row> => ({
    label,
    kind: "number",
    cell: ({ figures }) => figures !== undefined && count(figures)
  })
  return [
    {
      label: t.text("sessions.name"),
      cell: ({ id, name }) => html`<a href="${to(`/whatsapp/${id}`)}">${foreign(name)}</a>`
    },
    { label: t.text("sessions.number"), cell: ({ phone_number }) => ownNumber(ask, phone_number) },
    { label: t.text("sessions.status"), cell: (row) => status(ask, row) },
    counted(t.text("sessions.lastDay"), ({ last_day }) => sent(last_day, perDay)),
    counted(t.text("sessions.lastMinute"), ({ last_minute }) => sent(last_minute, perMinute)),
    counted(t.text("sessions.queue"), ({ queued }) => countOf(ask, counting, queued))
  ]
}

const list = Page.account({
  path: "/whatsapp",
  permission: "sessions:read",
  entry: { group: "whatsapp", label: "nav.sessions", icon: "smartphone", order: 1, key: "p" },
  read: (ask) =>
    Effect.gen(function*() {
      const after = positionIn(ask, Schema.Tuple([Schema.Int]))
      const { rows } = yield* (yield* Sessions).list(ask.accountId, {}, { limit: perPage + 1, offset: 0, after })
      const page = pageOf(rows, perPage, ({ id }) => [id])
      const { limits, most, ofEach } = yield* OutboxFigures
      const figures = yield* ofEach(ask.accountId, page.rows.map(({ id }) => id))
      return {
        older: page.older,
        rows: page.rows.map((session): Row => ({ ...session, figures: figures.get(session.id) })),
        counting: { limits, most }
      }
    }),
  draw: ({ counting, older, rows }, ask) => {
    const { can, t, to } = ask
    const button = can("sessions:write") &&
      linkButton(to("/whatsapp/new"), t.text("sessions.new"), { icon: "plus", tone: "main" })
    const none = emptyState({
      icon: "smartphone",
      title: t.text("sessions.empty.title"),
      text: t.text("sessions.empty.text"),
      button
    })
    return {
      title: t.text("sessions.title"),
      lead: t.text("sessions.lead"),
      curl: "/v1/whatsapp/sessions",
      buttons: rows.length > 0 && button,
      content: html`${rows.length === 0 ? none : table(t.text("sessions.caption"), columns(ask, counting), rows)}${
        pager(ask, cursorsAround(ask, older))
      }`
    }
  }
})

const create = Action.make({
  name: "create",
  endpoint: SessionsApi.endpoints.create,
  fields: {
    name: Field.text({
      label: "sessions.create.name",
      hint: "sessions.create.nameHint",
      autocomplete: "off",
      optional: true
    })
  },
  request: ({ name }) => ({ payload: { name: name ?? null } }),
  after: ({ id }, { ask }) => goTo(ask.to(`/whatsapp/${id}`), "sessions.created.done")
})

const make = Page.account({
  path: "/whatsapp/new",
  permission: "sessions:write",
  read: () => Effect.void,
  draw: (_, ask) => ({
    title: ask.t.text("sessions.create.title"),
    crumbs: listCrumbs(ask),
    lead: ask.t.text("sessions.create.text"),
    content: form(ask, create, { submit: ask.t.text("sessions.create.button"), cancel: ask.to("/whatsapp") })
  }),
  actions: [create]
})

/** The pages of all WhatsApp sessions: list, new. */
export const sessionsPages = [list, make] as const

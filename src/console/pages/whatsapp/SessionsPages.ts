import { Effect, Option, Schema } from "effect"
import type { Session, SessionDetail } from "../../../channels/whatsapp/model/Session.ts"
import type { SessionStatus } from "../../../channels/whatsapp/model/SessionState.ts"
import { Sessions } from "../../../channels/whatsapp/sessions/Sessions.ts"
import { SessionsApi } from "../../../channels/whatsapp/sessions/SessionsApi.ts"
import { html } from "../../../platform/http/html.ts"
import { Action, goTo, Refused } from "../../page/Action.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import { cursorsAround, pageOf, positionIn } from "../../page/cursor.ts"
import { Field } from "../../page/Field.ts"
import { Page } from "../../page/Page.ts"
import { buttonForm, form, refusalOf } from "../../ui/form.ts"
import { codeTimeout, picture, scanSteps, steps, timed, type TimedCode } from "../../ui/pairing.ts"
import {
  badge,
  card,
  code,
  emptyState,
  facts,
  foreign,
  icon,
  linkButton,
  moment,
  note,
  number,
  type Tone
} from "../../ui/parts.ts"
import { type Column, pager, table } from "../../ui/table.ts"
import { makeLink } from "./SessionChangePages.ts"
import { listCrumbs, sessionIn } from "./sessionParts.ts"

const perPage = 25

const tones: Readonly<Record<SessionStatus, Tone>> = {
  pending: "busy",
  connected: "good",
  disconnected: "warn",
  failed: "bad"
}

const statusBadge = ({ t }: Ask, status: SessionStatus) => badge(t.text(`sessions.status.${status}`), tones[status])

const numberOf = ({ t }: Ask, phoneNumber: string | null) =>
  phoneNumber === null ? t.text("sessions.notPaired") : code(`+${phoneNumber}`)

const columns = (ask: AccountAsk): ReadonlyArray<Column<Session>> => {
  const { t, to } = ask
  return [
    {
      label: t.text("sessions.name"),
      cell: ({ id, name }) => html`<a href="${to(`/whatsapp/${id}`)}">${foreign(name)}</a>`
    },
    { label: t.text("sessions.number"), cell: ({ phone_number }) => numberOf(ask, phone_number) },
    { label: t.text("sessions.status"), cell: ({ status }) => statusBadge(ask, status) },
    { label: t.text("sessions.messages"), kind: "number", cell: ({ messages_count }) => number(ask, messages_count) },
    { label: t.text("sessions.created"), cell: ({ created_at }) => moment(ask, created_at) }
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
      return pageOf(rows, perPage, ({ id }) => [id])
    }),
  draw: ({ older, rows }, ask) => {
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
      content: html`${rows.length === 0 ? none : table(t.text("sessions.caption"), columns(ask), rows)}${
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

const asked = Action.make({
  name: "connect",
  endpoint: SessionsApi.endpoints.reconnect,
  fields: {},
  request: (_, { params }) => ({ params: { id: params["id"] } }),
  after: (_, { ask }) => goTo(ask.path, "sessions.started")
})

const isRefused = Schema.is(Refused)

/** A session that has connected by itself meanwhile needs nothing more. */
export const connect: typeof asked = {
  ...asked,
  run: (sent, ask) =>
    Effect.catchIf(
      asked.run(sent, ask),
      (error) => isRefused(error) && error.type === "session_already_connected",
      () => Effect.succeed(goTo(ask.path, "sessions.started"))
    )
}

/** A session with its code, if it waits for a phone and the person may pair one. */
interface Paired {
  readonly session: SessionDetail
  readonly qr: TimedCode | undefined
}

const readSession = Effect.fnUntraced(function*(ask: AccountAsk) {
  const sessions = yield* Sessions
  const session = yield* sessionIn(ask)
  const which = { accountId: ask.accountId, id: session.id }
  if (session.status !== "pending" || !ask.can("sessions:write")) return { session, qr: undefined } satisfies Paired
  const qr = yield* sessions.qr(which).pipe(
    Effect.flatMap(timed),
    Effect.timeoutOption(codeTimeout),
    // A phone was paired meanwhile, or WhatsApp sent no code: the session says which.
    Effect.catchTags({
      SessionAlreadyConnected: () => Effect.succeedNone,
      PairingUnavailable: () => Effect.succeedNone
    })
  )
  return { session: yield* sessions.find(which), qr: Option.getOrUndefined(qr) } satisfies Paired
})

const refresh = ({ path, t }: Ask) => linkButton(path, t.text("sessions.pair.refresh"), { icon: "refresh-cw" })

/** The code with the three steps to scan it. */
const pairing = (ask: AccountAsk, { qr, session }: Paired) => {
  const { can, t } = ask
  if (!can("sessions:write")) return note(t.text("sessions.pair.forbidden"))
  const here = `/whatsapp/${session.id}` as const
  return card(
    t.text("sessions.pair.title"),
    html`${steps(ask, scanSteps)}
${picture(ask, qr)}<div class="buttons">${refresh(ask)}${
      linkButton(ask.to(`${here}/code`), t.text("sessions.code"), { icon: "phone" })
    }${
      buttonForm(ask, makeLink, {
        label: html`${icon("link")}<span>${t.text("sessions.link.copy")}</span>`,
        at: ask.to(`${here}/link`),
        copiesAnswer: true
      })
    }</div><p class="hint">${t.text("sessions.link.hint")}</p>`,
    "pair"
  )
}

/** Why a session is not connected, with what a person can do. */
const trouble = (ask: AccountAsk, { reason, status }: SessionDetail) => {
  const { can, t } = ask
  if (reason === null) return false
  const isUnpaired = reason === "qr_expired" || reason === "logged_out"
  return html`${note(t.text(`sessions.reason.${reason}`), status === "failed" ? "bad" : "warn")}${
    can("sessions:write") && html`<div class="buttons">${
      buttonForm(ask, connect, {
        label: t.text(isUnpaired ? "sessions.pair.again" : "sessions.reconnect"),
        tone: "main"
      })
    }</div>`
  }`
}

const about = (ask: Ask, session: SessionDetail) => {
  const { t } = ask
  return card(
    t.text("sessions.about"),
    facts([
      [t.text("sessions.status"), statusBadge(ask, session.status)],
      [t.text("sessions.number"), numberOf(ask, session.phone_number)],
      [t.text("sessions.messages"), number(ask, session.messages_count)],
      [
        t.text("sessions.connected"),
        session.connected_at === null ? t.text("common.never") : moment(ask, session.connected_at)
      ],
      [t.text("sessions.created"), moment(ask, session.created_at)]
    ]),
    "about"
  )
}

const content = (ask: AccountAsk, paired: Paired) => {
  const { session } = paired
  return html`<div class="stack">${trouble(ask, session)}${session.status === "pending" && pairing(ask, paired)}${
    about(ask, session)
  }</div>`
}

const one = Page.account({
  path: "/whatsapp/:id",
  permission: "sessions:read",
  read: readSession,
  draw: (paired, ask) => {
    const { can, t, to } = ask
    const { id, name, reason, status } = paired.session
    const isPaired = status !== "pending" && reason !== "logged_out" && reason !== "qr_expired"
    return {
      title: name,
      isLive: true,
      crumbs: listCrumbs(ask),
      curl: `/v1/whatsapp/sessions/${id}`,
      buttons: html`${
        can("contacts:read") &&
        linkButton(to(`/whatsapp/${id}/contacts`), t.text("contacts.title"), { icon: "user" })
      }${can("groups:read") && linkButton(to(`/whatsapp/${id}/groups`), t.text("groups.title"), { icon: "users" })}${
        can("sessions:write") &&
        html`${linkButton(to(`/whatsapp/${id}/rename`), t.text("sessions.rename"), { opensDialog: true })}${
          isPaired && linkButton(to(`/whatsapp/${id}/logout`), t.text("sessions.logout"), {
            icon: "log-out",
            opensDialog: true
          })
        }${
          linkButton(to(`/whatsapp/${id}/delete`), t.text("sessions.delete"), {
            icon: "trash",
            tone: "danger",
            opensDialog: true
          })
        }`
      }`,
      content: html`<div class="stack">${refusalOf(ask)}${content(ask, paired)}</div>`
    }
  },
  actions: [connect]
})

/** The pages of WhatsApp sessions: list, new, one with its code. */
export const sessionsPages = [list, make, one] as const

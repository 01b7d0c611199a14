import { Effect, Option, Schema } from "effect"
import type { PastState, SessionDetail, SessionFigures } from "../../../channels/whatsapp/model/Session.ts"
import { OutboxFigures } from "../../../channels/whatsapp/outbox/OutboxFigures.ts"
import { Sessions } from "../../../channels/whatsapp/sessions/Sessions.ts"
import { SessionsApi } from "../../../channels/whatsapp/sessions/SessionsApi.ts"
import { html } from "../../../platform/http/html.ts"
import { Action, goTo, Refused } from "../../page/Action.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import { Page } from "../../page/Page.ts"
import { buttonForm, refusalOf } from "../../ui/form.ts"
import { codeTimeout, picture, scanSteps, steps, timed, type TimedCode } from "../../ui/pairing.ts"
import { card, facts, icon, linkButton, moment, note, number } from "../../ui/parts.ts"
import { type Column, table } from "../../ui/table.ts"
import { makeLink } from "./SessionChangePages.ts"
import { type Counting, countOf, listCrumbs, ofLimit, ownNumber, sessionIn, statusBadge } from "./sessionParts.ts"

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

/** A session with its code, if it waits for a phone and the person may pair one, and with what it sends. */
interface Shown {
  readonly session: SessionDetail
  readonly qr: TimedCode | undefined
  readonly counting: Counting
  readonly figures: SessionFigures | undefined
  readonly states: ReadonlyArray<PastState>
}

/** The states that the page shows. */
const newest = { after: null, limit: 20 }

const readPaired = Effect.fnUntraced(function*(ask: AccountAsk) {
  const sessions = yield* Sessions
  const session = yield* sessionIn(ask)
  const which = { accountId: ask.accountId, id: session.id }
  if (session.status !== "pending" || !ask.can("sessions:write")) return { session, qr: undefined }
  const qr = yield* sessions.qr(which).pipe(
    Effect.flatMap(timed),
    Effect.timeoutOption(codeTimeout),
    // A phone was paired meanwhile, or WhatsApp sent no code: the session says which.
    Effect.catchTags({
      SessionAlreadyConnected: () => Effect.succeedNone,
      PairingUnavailable: () => Effect.succeedNone
    })
  )
  return { session: yield* sessions.find(which), qr: Option.getOrUndefined(qr) }
})

const readSession = Effect.fnUntraced(function*(ask: AccountAsk) {
  const paired = yield* readPaired(ask)
  const { id } = paired.session
  const { limits, most, ofEach } = yield* OutboxFigures
  const figures = yield* ofEach(ask.accountId, [id])
  const states = yield* (yield* Sessions).states({ accountId: ask.accountId, id }, newest)
  return { ...paired, counting: { limits, most }, figures: figures.get(id), states } satisfies Shown
})

const refresh = ({ path, t }: Ask) => linkButton(path, t.text("sessions.pair.refresh"), { icon: "refresh-cw" })

/** The code with the three steps to scan it. */
const pairing = (ask: AccountAsk, { qr, session }: Shown) => {
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

const about = (ask: Ask, { figures, session }: Shown) => {
  const { t } = ask
  return card(
    t.text("sessions.about"),
    facts([
      [
        t.text("sessions.status"),
        html`${statusBadge(ask, session.status)}${
          figures !== undefined &&
          html` <span class="quiet">${t.rich("sessions.since", { when: moment(ask, figures.status_since) })}</span>`
        }`
      ],
      [t.text("sessions.number"), ownNumber(ask, session.phone_number)],
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

/** How many messages the limits still allow. */
const left = (ask: Ask, count: number, limit: number) =>
  limit === 0 ? ask.t.text("sessions.noLimit") : ofLimit(ask, Math.max(0, limit - count), limit)

/** What the session sends, and what waits for its turn. */
const sending = (ask: AccountAsk, { counting, session }: Shown, figures: SessionFigures) => {
  const { can, t, to } = ask
  const { limits: { perDay, perMinute } } = counting
  const queued = countOf(ask, counting, figures.queued)
  const waiting = `${to("/messages")}?channel=whatsapp&session_id=${session.id}&status=queued`
  return card(
    t.text("sessions.sending"),
    facts([
      [t.text("sessions.leftMinute"), left(ask, figures.last_minute, perMinute)],
      [t.text("sessions.leftDay"), left(ask, figures.last_day, perDay)],
      [t.text("sessions.lastDay"), countOf(ask, counting, figures.last_day)],
      [
        t.text("sessions.queue"),
        figures.queued > 0 && can("messages:read") ? html`<a href="${waiting}">${queued}</a>` : queued
      ]
    ]),
    "sending"
  )
}

const historyColumns = (ask: Ask): ReadonlyArray<Column<PastState>> => [
  { label: ask.t.text("contacts.since"), cell: ({ since }) => moment(ask, since) },
  { label: ask.t.text("sessions.status"), cell: ({ status }) => statusBadge(ask, status) },
  {
    label: ask.t.text("sessions.reason"),
    cell: ({ reason }) => reason !== null && ask.t.text(`sessions.why.${reason}`)
  }
]

const history = (ask: Ask, states: ReadonlyArray<PastState>) =>
  states.length > 0 &&
  card(
    ask.t.text("sessions.history"),
    table(ask.t.text("sessions.history.caption"), historyColumns(ask), states),
    "history"
  )

const content = (ask: AccountAsk, shown: Shown) => {
  const { figures, session, states } = shown
  return html`<div class="stack">${trouble(ask, session)}${session.status === "pending" && pairing(ask, shown)}${
    about(ask, shown)
  }${session.phone_number !== null && figures !== undefined && sending(ask, shown, figures)}${
    history(ask, states)
  }</div>`
}

/** One session: its state, its code while it waits for a phone, and what it sends. */
export const sessionPage = Page.account({
  path: "/whatsapp/:id",
  permission: "sessions:read",
  read: readSession,
  draw: (shown, ask) => {
    const { can, t, to } = ask
    const { id, name, reason, status } = shown.session
    const isPaired = status !== "pending" && reason !== "logged_out" && reason !== "qr_expired"
    return {
      title: name,
      isLive: true,
      crumbs: listCrumbs(ask),
      curl: `/v1/whatsapp/sessions/${id}`,
      buttons: html`${
        status === "connected" && can("messages:write") &&
        linkButton(`${to("/send")}?channel=whatsapp&session_id=${id}`, t.text("messages.send"), {
          icon: "send",
          tone: "main"
        })
      }${
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
      content: html`<div class="stack">${refusalOf(ask)}${content(ask, shown)}</div>`
    }
  },
  actions: [connect]
})

import { Effect, Schema } from "effect"
import { type Group, GroupId } from "../../../channels/whatsapp/directory/Group.ts"
import { Groups } from "../../../channels/whatsapp/directory/Groups.ts"
import { GroupsApi } from "../../../channels/whatsapp/directory/GroupsApi.ts"
import type { SessionDetail } from "../../../channels/whatsapp/model/Session.ts"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import { html } from "../../../platform/http/html.ts"
import { Action, goTo } from "../../page/Action.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { cursorsAround, pageOf, positionIn } from "../../page/cursor.ts"
import { Field } from "../../page/Field.ts"
import { idIn, Page } from "../../page/Page.ts"
import { form } from "../../ui/form.ts"
import { card, code, copyable, emptyState, facts, foreign, linkButton, moment, note, number } from "../../ui/parts.ts"
import { type Column, pager, table } from "../../ui/table.ts"
import { chatButton, numberOf, sessionCrumbs, sessionIn } from "./sessionParts.ts"

const perPage = 50

type Participant = Group["participants"][number]

/** A group with its session. */
interface Shown {
  readonly session: SessionDetail
  readonly found: Group
}

const listOf = ({ to }: AccountAsk, sessionId: number) => to(`/whatsapp/${sessionId}/groups`)

/** The group of a page that stands below it. */
const above = ({ params, to }: AccountAsk) => to(`/whatsapp/${params["id"]}/groups/${params["group_id"]}`)

/** WhatsApp changes groups over the session's connection. */
const mayChange = ({ can }: AccountAsk, { status }: SessionDetail) => can("groups:write") && status === "connected"

/** Numbers as people write them, with a comma or a line end between two of them. An empty field is one that is missing. */
const numbersOf = (text = "") => text.trim().split(/\s*[\n,;]\s*/)

const listCrumbs = (ask: AccountAsk, session: SessionDetail) => [
  ...sessionCrumbs(ask, session),
  { href: listOf(ask, session.id), label: ask.t.text("groups.title") }
]

const groupIn = Effect.fnUntraced(function*(ask: AccountAsk) {
  const session = yield* sessionIn(ask)
  const id = yield* idIn(ask, GroupId, "group_id")
  const found = yield* (yield* Groups).find({ accountId: ask.accountId, id })
  if (found.session_id !== session.id) return yield* new NotFound()
  return { session, found } satisfies Shown
})

const columns = (ask: AccountAsk): ReadonlyArray<Column<Group>> => {
  const { t } = ask
  return [
    {
      label: t.text("groups.name"),
      cell: ({ id, name, session_id }) => html`<a href="${listOf(ask, session_id)}/${id}">${foreign(name)}</a>`
    },
    {
      label: t.text("groups.members"),
      kind: "number",
      cell: ({ participant_count }) => number(ask, participant_count)
    },
    { label: t.text("groups.created"), cell: ({ created_at }) => moment(ask, created_at) }
  ]
}

const groups = Page.account({
  path: "/whatsapp/:id/groups",
  permission: "groups:read",
  read: (ask) =>
    Effect.gen(function*() {
      const session = yield* sessionIn(ask)
      const { rows } = yield* (yield* Groups).list(
        ask.accountId,
        { session_id: session.id },
        { limit: perPage + 1, offset: 0, after: positionIn(ask, Schema.Tuple([Schema.Int])) }
      )
      return { session, page: pageOf(rows, perPage, ({ id }) => [id]) }
    }),
  draw: ({ page, session }, ask) => {
    const { t } = ask
    const button = mayChange(ask, session) &&
      linkButton(`${listOf(ask, session.id)}/new`, t.text("groups.new"), { icon: "plus", tone: "main" })
    return {
      title: t.text("groups.title"),
      lead: t.text("groups.lead"),
      crumbs: sessionCrumbs(ask, session),
      curl: `/v1/whatsapp/groups?session_id=${session.id}`,
      buttons: page.rows.length > 0 && button,
      content: html`${
        page.rows.length === 0
          ? emptyState({
            icon: "users",
            title: t.text("groups.empty.title"),
            text: t.text("groups.empty.text"),
            button
          })
          : table(t.text("groups.caption"), columns(ask), page.rows)
      }${pager(ask, cursorsAround(ask, page.older))}`
    }
  }
})

const create = Action.make({
  name: "create",
  endpoint: GroupsApi.endpoints.create,
  fields: {
    name: Field.text({ label: "groups.name", autocomplete: "off" }),
    description: Field.textarea({ label: "groups.description", optional: true }),
    participants: Field.textarea({ label: "groups.participants", hint: "groups.numbersHint", isMono: true })
  },
  request: ({ description, name, participants }, { params }) => ({
    payload: {
      session_id: Number(params["id"]),
      name: name ?? "",
      description: description ?? null,
      participants: numbersOf(participants)
    }
  }),
  after: ({ data }, { ask }) => goTo(`${listOf(ask, data.session_id)}/${data.id}`, "groups.create.done")
})

const make = Page.account({
  path: "/whatsapp/:id/groups/new",
  permission: "groups:write",
  read: sessionIn,
  draw: (session, ask) => {
    const { t } = ask
    return {
      title: t.text("groups.create.title"),
      lead: t.text("groups.create.text"),
      crumbs: listCrumbs(ask, session),
      content: mayChange(ask, session) || ask.attempt !== undefined
        ? form(ask, create, { submit: t.text("groups.create.button"), cancel: listOf(ask, session.id) })
        : note(t.text("groups.notConnected"), "warn")
    }
  },
  actions: [create]
})

/** The session's own number. */
const ownOf = ({ session: { phone_number } }: Pick<Shown, "session">) =>
  phone_number === null ? undefined : `+${phone_number}`

const participantColumns = (ask: AccountAsk, shown: Shown): ReadonlyArray<Column<Participant>> => {
  const { can, t } = ask
  const { found, session } = shown
  const own = ownOf(shown)
  const isMember = found.participants.some(({ phone, role }) => phone === own && role === "member")
  const change = (phone: string) =>
    html`<span class="buttons">${can("messages:read") && chatButton(ask, session.id, { name: null, phone })}${
      mayChange(ask, session) && !isMember &&
      linkButton(`${above(ask)}/remove/${encodeURIComponent(phone)}`, t.text("groups.remove"), {
        opensDialog: true,
        label: t.text("groups.removeOne", { number: phone })
      })
    }</span>`
  return [
    {
      label: t.text("contacts.number"),
      cell: ({ phone }) =>
        html`${numberOf(ask, phone)}${
          phone !== null && phone === own && html` <span class="quiet">${t.text("groups.own")}</span>`
        }`
    },
    { label: t.text("groups.role"), cell: ({ role }) => t.text(`groups.role.${role}`) },
    {
      label: t.text("groups.remove"),
      kind: "actions",
      cell: ({ phone }) => phone !== null && phone !== own && change(phone)
    }
  ]
}

const group = Page.account({
  path: "/whatsapp/:id/groups/:group_id",
  permission: "groups:read",
  read: groupIn,
  draw: (shown, ask) => {
    const { can, t, to } = ask
    const { found, session } = shown
    return {
      title: found.name,
      crumbs: listCrumbs(ask, session),
      curl: `/v1/whatsapp/groups/${found.id}`,
      buttons: html`${
        mayChange(ask, session) &&
        linkButton(`${above(ask)}/add`, t.text("groups.add"), { icon: "plus", opensDialog: true })
      }${
        can("messages:write") &&
        linkButton(`${to("/send")}?channel=whatsapp&group_id=${found.id}`, t.text("contacts.write"), {
          icon: "send",
          tone: "main"
        })
      }`,
      content: html`${
        card(
          t.text("groups.about"),
          html`${
            facts([
              [t.text("groups.members"), number(ask, found.participant_count)],
              [t.text("groups.created"), moment(ask, found.created_at)],
              [t.text("groups.id"), code(String(found.id))],
              ...(found.description === null
                ? []
                : [[t.text("groups.description"), foreign(found.description)] as const])
            ])
          }<h3>${t.text("groups.invite")}</h3>${
            found.invite_link === null
              ? html`<p class="quiet">${t.text("groups.noInvite")}</p>`
              : copyable(ask, found.invite_link, { label: t.text("groups.invite") })
          }`,
          "about"
        )
      }
<h2>${t.text("groups.participants")}</h2>
${table(t.text("groups.participantsCaption"), participantColumns(ask, shown), found.participants)}`
    }
  }
})

const addSome = Action.make({
  name: "add",
  endpoint: GroupsApi.endpoints.change,
  fields: {
    add_participants: Field.textarea({ label: "groups.participants", hint: "groups.numbersHint", isMono: true })
  },
  request: ({ add_participants }, { params }) => ({
    params: { id: params["group_id"] },
    payload: { add_participants: numbersOf(add_participants) }
  }),
  after: (_, { ask }) => goTo(above(ask), "groups.add.done")
})

const groupCrumbs = (ask: AccountAsk, { found, session }: Shown) => [
  ...listCrumbs(ask, session),
  { href: above(ask), label: found.name }
]

const add = Page.account({
  path: "/whatsapp/:id/groups/:group_id/add",
  permission: "groups:write",
  read: groupIn,
  draw: (shown, ask) => ({
    title: ask.t.text("groups.add.title", { name: shown.found.name }),
    crumbs: groupCrumbs(ask, shown),
    content: form(ask, addSome, { submit: ask.t.text("groups.add.button"), cancel: above(ask) })
  }),
  actions: [addSome]
})

const removeOne = Action.make({
  name: "remove",
  endpoint: GroupsApi.endpoints.change,
  fields: {},
  request: (_, { params }) => ({
    params: { id: params["group_id"] },
    payload: { remove_participants: [params["phone"]] }
  }),
  after: (_, { ask }) => goTo(above(ask), "groups.remove.done")
})

const remove = Page.account({
  path: "/whatsapp/:id/groups/:group_id/remove/:phone",
  permission: "groups:write",
  read: (ask) =>
    Effect.gen(function*() {
      const shown = yield* groupIn(ask)
      const { phone } = ask.params
      const isOther = phone !== ownOf(shown) && shown.found.participants.some((one) => one.phone === phone)
      return phone === undefined || !isOther ? yield* new NotFound() : { ...shown, phone }
    }),
  draw: ({ phone, ...shown }, ask) => {
    const { t } = ask
    return {
      title: t.text("groups.remove.title", { number: phone }),
      crumbs: groupCrumbs(ask, shown),
      content: html`<p>${t.text("groups.remove.text", { name: shown.found.name })}</p>
${form(ask, removeOne, { submit: t.text("groups.remove.button"), tone: "danger", cancel: above(ask) })}`
    }
  },
  actions: [removeOne]
})

/** The groups of a session: list, new, one with its participants, who join and leave. */
export const groupsPages = [groups, make, group, add, remove] as const

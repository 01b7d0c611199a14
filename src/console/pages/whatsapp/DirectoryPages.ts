import { Effect, Schema } from "effect"
import type { Contact } from "../../../channels/whatsapp/directory/Contact.ts"
import { Contacts } from "../../../channels/whatsapp/directory/Contacts.ts"
import { type Group, GroupId } from "../../../channels/whatsapp/directory/Group.ts"
import { Groups } from "../../../channels/whatsapp/directory/Groups.ts"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import { html } from "../../../platform/http/html.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import { cursorsAround, pageOf, positionIn } from "../../page/cursor.ts"
import { idIn, Page } from "../../page/Page.ts"
import { card, code, copyable, emptyState, facts, foreign, linkButton, moment, number } from "../../ui/parts.ts"
import { type Column, pager, search, table } from "../../ui/table.ts"
import { sessionCrumbs, sessionIn } from "./sessionParts.ts"

const perPage = 50

const nameOf = ({ t }: Ask, { name }: Contact) =>
  name === null ? html`<span class="quiet">${t.text("contacts.noName")}</span>` : foreign(name)

const numberOf = ({ t }: Ask, phone: string | null) =>
  phone === null ? html`<span class="quiet">${t.text("contacts.hidden")}</span>` : code(phone)

const contactColumns = (ask: AccountAsk): ReadonlyArray<Column<Contact>> => {
  const { can, t, to } = ask
  return [
    { label: t.text("contacts.name"), cell: (contact) => nameOf(ask, contact) },
    { label: t.text("contacts.number"), cell: ({ phone }) => numberOf(ask, phone) },
    { label: t.text("contacts.since"), cell: ({ created_at }) => moment(ask, created_at) },
    {
      label: t.text("contacts.write"),
      kind: "actions",
      cell: ({ name, phone, session_id }) =>
        phone !== null && html`<span class="buttons">${
          linkButton(
            to(`/whatsapp/${session_id}/chats/${encodeURIComponent(phone)}`),
            t.text("contacts.chat"),
            { label: t.text("contacts.chatWith", { name: name ?? phone }) }
          )
        }${
          can("messages:write") &&
          linkButton(
            `${to("/send")}?channel=whatsapp&session_id=${session_id}&to=${encodeURIComponent(phone)}`,
            t.text("contacts.write"),
            {
              label: t.text("contacts.writeTo", { name: name ?? phone })
            }
          )
        }</span>`
    }
  ]
}

const contacts = Page.account({
  path: "/whatsapp/:id/contacts",
  permission: "contacts:read",
  read: (ask) =>
    Effect.gen(function*() {
      const session = yield* sessionIn(ask)
      const q = ask.query.get("q")?.trim().slice(0, 100) ?? ""
      const { rows } = yield* (yield* Contacts).list(
        ask.accountId,
        { session_id: session.id, ...(q !== "" && { q }) },
        { limit: perPage + 1, offset: 0, after: positionIn(ask, Schema.Tuple([Schema.Int])) }
      )
      return { session, page: pageOf(rows, perPage, ({ id }) => [id]), q }
    }),
  draw: ({ page, q, session }, ask) => {
    const { t } = ask
    const isFiltered = q !== ""
    return {
      title: t.text("contacts.title"),
      lead: t.text("contacts.lead"),
      crumbs: sessionCrumbs(ask, session),
      curl: `/v1/whatsapp/contacts?session_id=${session.id}${isFiltered ? `&q=${encodeURIComponent(q)}` : ""}`,
      content: html`${
        (page.rows.length > 0 || isFiltered) &&
        search(ask, { label: t.text("contacts.q"), button: t.text("contacts.find") })
      }${
        page.rows.length === 0
          ? emptyState({
            icon: "user",
            title: t.text("contacts.empty.title"),
            text: t.text(isFiltered ? "contacts.empty.filtered" : "contacts.empty.text")
          })
          : table(t.text("contacts.caption"), contactColumns(ask), page.rows)
      }${pager(ask, cursorsAround(ask, page.older))}`
    }
  }
})

const groupColumns = (ask: AccountAsk): ReadonlyArray<Column<Group>> => {
  const { t, to } = ask
  return [
    {
      label: t.text("groups.name"),
      cell: ({ id, name, session_id }) =>
        html`<a href="${to(`/whatsapp/${session_id}/groups/${id}`)}">${foreign(name)}</a>`
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
    return {
      title: t.text("groups.title"),
      lead: t.text("groups.lead"),
      crumbs: sessionCrumbs(ask, session),
      curl: `/v1/whatsapp/groups?session_id=${session.id}`,
      content: html`${
        page.rows.length === 0
          ? emptyState({ icon: "users", title: t.text("groups.empty.title"), text: t.text("groups.empty.text") })
          : table(t.text("groups.caption"), groupColumns(ask), page.rows)
      }${pager(ask, cursorsAround(ask, page.older))}`
    }
  }
})

type Participant = Group["participants"][number]

const participantColumns = (ask: Ask): ReadonlyArray<Column<Participant>> => [
  { label: ask.t.text("contacts.number"), cell: ({ phone }) => numberOf(ask, phone) },
  { label: ask.t.text("groups.role"), cell: ({ role }) => ask.t.text(`groups.role.${role}`) }
]

const group = Page.account({
  path: "/whatsapp/:id/groups/:group_id",
  permission: "groups:read",
  read: (ask) =>
    Effect.gen(function*() {
      const session = yield* sessionIn(ask)
      const found = yield* (yield* Groups).find({
        accountId: ask.accountId,
        id: yield* idIn(ask, GroupId, "group_id")
      })
      if (found.session_id !== session.id) return yield* new NotFound()
      return { session, found }
    }),
  draw: ({ found, session }, ask) => {
    const { can, t, to } = ask
    return {
      title: found.name,
      crumbs: [
        ...sessionCrumbs(ask, session),
        { href: to(`/whatsapp/${session.id}/groups`), label: t.text("groups.title") }
      ],
      curl: `/v1/whatsapp/groups/${found.id}`,
      buttons: can("messages:write") &&
        linkButton(`${to("/send")}?channel=whatsapp&group_id=${found.id}`, t.text("contacts.write"), {
          icon: "send",
          tone: "main"
        }),
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
          }${
            found.invite_link !== null &&
            html`<h3>${t.text("groups.invite")}</h3>${
              copyable(ask, found.invite_link, { label: t.text("groups.invite") })
            }`
          }`,
          "about"
        )
      }
<h2>${t.text("groups.participants")}</h2>
${table(t.text("groups.participantsCaption"), participantColumns(ask), found.participants)}`
    }
  }
})

/** Whom a session knows: its contacts, its groups, one group. */
export const directoryPages = [contacts, groups, group] as const

import { Effect, Schema } from "effect"
import type { Contact, NumberCheck } from "../../../channels/whatsapp/directory/Contact.ts"
import { Contacts } from "../../../channels/whatsapp/directory/Contacts.ts"
import { ContactsApi } from "../../../channels/whatsapp/directory/ContactsApi.ts"
import { html } from "../../../platform/http/html.ts"
import { Action, show } from "../../page/Action.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import { cursorsAround, pageOf, positionIn } from "../../page/cursor.ts"
import { Field } from "../../page/Field.ts"
import { Page } from "../../page/Page.ts"
import { form } from "../../ui/form.ts"
import { card, code, emptyState, facts, foreign, linkButton, moment, note } from "../../ui/parts.ts"
import { type Column, pager, search, table } from "../../ui/table.ts"
import { chatButton, listCrumbs, numberOf, sessionCrumbs, sessionIn } from "./sessionParts.ts"

const perPage = 50

const nameOf = ({ t }: Ask, { name }: Contact) =>
  name === null ? html`<span class="quiet">${t.text("contacts.noName")}</span>` : foreign(name)

const columns = (ask: AccountAsk): ReadonlyArray<Column<Contact>> => {
  const { can, t, to } = ask
  return [
    { label: t.text("contacts.name"), cell: (contact) => nameOf(ask, contact) },
    { label: t.text("contacts.number"), cell: ({ phone }) => numberOf(ask, phone) },
    { label: t.text("contacts.since"), cell: ({ created_at }) => moment(ask, created_at) },
    {
      label: t.text("contacts.write"),
      kind: "actions",
      cell: ({ name, phone, session_id }) =>
        phone !== null &&
        html`<span class="buttons">${chatButton(ask, session_id, { name, phone })}${
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

/** A number as WhatsApp knows it: some countries have two forms of one number, and some accounts hide theirs. */
const knownAs = (whatsappId: string) => {
  const [, digits] = /^(\d+)@s\.whatsapp\.net$/.exec(whatsappId) ?? []
  return digits === undefined ? whatsappId : `+${digits}`
}

/** What WhatsApp says of a number, with the ways to write to it. */
const checked = (ask: AccountAsk, { is_whatsapp_user, phone, whatsapp_id }: NumberCheck) => {
  const { can, params, path, t, to } = ask
  const verdict = is_whatsapp_user === null ? "unknown" : is_whatsapp_user ? "yes" : "no"
  const session = Number(params["id"])
  const write = (query: string, label: string, isMain: boolean) =>
    can("messages:write") &&
    linkButton(`${to("/send")}?${query}&to=${encodeURIComponent(phone)}`, label, {
      icon: "send",
      ...(isMain && { tone: "main" })
    })
  return {
    title: t.text(`contacts.check.${verdict}`, { number: phone }),
    crumbs: [...listCrumbs(ask), { href: path, label: t.text("contacts.title") }],
    content: html`${is_whatsapp_user === null && note(t.text("contacts.check.unknownText"), "warn")}${
      facts([
        [t.text("contacts.number"), code(phone)],
        ...(whatsapp_id === null ? [] : [[t.text("contacts.check.known"), code(knownAs(whatsapp_id))] as const])
      ])
    }
<div class="buttons">${
      is_whatsapp_user === true &&
      html`${write(`channel=whatsapp&session_id=${session}`, t.text("contacts.write"), true)}${
        chatButton(ask, session, { name: null, phone })
      }`
    }${is_whatsapp_user === false && write("channel=sms", t.text("contacts.check.sms"), true)}${
      linkButton(path, t.text("contacts.check.another"), { icon: "arrow-left" })
    }</div>`
  }
}

const check = Action.make({
  name: "check",
  endpoint: ContactsApi.endpoints.check,
  fields: {
    phone: Field.text({
      label: "contacts.number",
      hint: "contacts.check.hint",
      autocomplete: "off",
      isMono: true
    })
  },
  // An empty part of a path, or one of dots, would make another path.
  request: ({ phone = "" }, { params }) => ({
    params: { phone: /^\.*$/.test(phone) ? " " : phone },
    query: { session_id: params["id"] }
  }),
  after: ({ data }, { ask }) => show(checked(ask, data))
})

/** The people whom a session knows, and the check of a number. */
export const contactsPage = Page.account({
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
      content: html`<div class="stack">${
        card(
          t.text("contacts.check.title"),
          session.status === "connected" || ask.attempt !== undefined
            ? form(ask, check, { submit: t.text("contacts.check.button") })
            : note(t.text("contacts.check.notConnected"), "warn"),
          "check"
        )
      }${
        (page.rows.length > 0 || isFiltered) &&
        search(ask, { label: t.text("contacts.q"), button: t.text("contacts.find") })
      }${
        page.rows.length === 0
          ? emptyState({
            icon: "user",
            title: t.text("contacts.empty.title"),
            text: t.text(isFiltered ? "contacts.empty.filtered" : "contacts.empty.text")
          })
          : table(t.text("contacts.caption"), columns(ask), page.rows)
      }${pager(ask, cursorsAround(ask, page.older))}</div>`
    }
  },
  actions: [check]
})

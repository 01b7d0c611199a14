import { Effect } from "effect"
import { Contacts } from "../../../channels/whatsapp/directory/Contacts.ts"
import { Groups } from "../../../channels/whatsapp/directory/Groups.ts"
import { SessionsApi } from "../../../channels/whatsapp/sessions/SessionsApi.ts"
import { html } from "../../../platform/http/html.ts"
import { Action, goTo, ifNamed, namedFields, show } from "../../page/Action.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { Field } from "../../page/Field.ts"
import { Page } from "../../page/Page.ts"
import { form } from "../../ui/form.ts"
import { typed } from "../../ui/pairing.ts"
import { copyable, counted, facts, linkButton, note } from "../../ui/parts.ts"
import { sessionCrumbs, sessionIn } from "./sessionParts.ts"

const of = ({ params }: AccountAsk) => ({ params: { id: params["id"] } })

/** The session of a page that stands below it. */
const above = ({ params, to }: AccountAsk) => to(`/whatsapp/${params["id"]}`)

const askForCode = Action.make({
  name: "code",
  endpoint: SessionsApi.endpoints.pairingCode,
  fields: {
    phone_number: Field.text({
      label: "sessions.code.number",
      hint: "sessions.code.numberHint",
      autocomplete: "off",
      isMono: true
    })
  },
  request: ({ phone_number }, ask) => ({ ...of(ask), payload: { phone_number: phone_number ?? "" } }),
  after: ({ data }, { ask }) =>
    show({
      title: ask.t.text("sessions.code.made"),
      content: html`${typed(ask, data)}
<div class="buttons">${
        linkButton(above(ask), ask.t.text("sessions.code.typed"), { icon: "check", tone: "main" })
      }</div>`
    })
})

const code = Page.account({
  path: "/whatsapp/:id/code",
  permission: "sessions:write",
  read: sessionIn,
  draw: (session, ask) => ({
    title: ask.t.text("sessions.code.title"),
    crumbs: sessionCrumbs(ask, session),
    content: html`<p>${ask.t.text("sessions.code.text")}</p>
${form(ask, askForCode, { submit: ask.t.text("sessions.code.button"), cancel: above(ask) })}`
  }),
  actions: [askForCode]
})

/** The link is a secret, so only a form gives it, and no address. */
export const makeLink = Action.make({
  name: "link",
  endpoint: SessionsApi.endpoints.pairingLink,
  fields: {},
  request: (_, ask) => of(ask),
  after: ({ data }, { ask }) =>
    show({
      title: ask.t.text("sessions.link.made"),
      lead: ask.t.text("sessions.link.lead"),
      content: html`${note(ask.t.text("sessions.link.secret"), "warn")}
${copyable(ask, data.url, { label: ask.t.text("sessions.link") })}
<div class="buttons">${linkButton(above(ask), ask.t.text("common.back"), { icon: "arrow-left" })}</div>`
    })
})

const link = Page.account({
  path: "/whatsapp/:id/link",
  permission: "sessions:write",
  read: sessionIn,
  draw: (session, ask) => ({
    title: ask.t.text("sessions.link.title"),
    crumbs: sessionCrumbs(ask, session),
    content: html`<p>${ask.t.text("sessions.link.text")}</p>
${form(ask, makeLink, { submit: ask.t.text("sessions.link.button"), cancel: above(ask) })}`
  }),
  actions: [makeLink]
})

const changeName = Action.make({
  name: "rename",
  endpoint: SessionsApi.endpoints.change,
  fields: { name: Field.text({ label: "sessions.create.name", autocomplete: "off" }) },
  request: ({ name }, ask) => ({ ...of(ask), payload: { name: name ?? "" } }),
  after: (_, { ask }) => goTo(above(ask), "sessions.rename.done")
})

const rename = Page.account({
  path: "/whatsapp/:id/rename",
  permission: "sessions:write",
  read: sessionIn,
  draw: (session, ask) => ({
    title: ask.t.text("sessions.rename.title"),
    crumbs: sessionCrumbs(ask, session),
    content: form(ask, changeName, {
      submit: ask.t.text("sessions.rename"),
      cancel: above(ask),
      values: { name: session.name }
    })
  }),
  actions: [changeName]
})

const leave = Action.make({
  name: "logout",
  endpoint: SessionsApi.endpoints.logOut,
  fields: {},
  request: (_, ask) => of(ask),
  after: (_, { ask }) => goTo(above(ask), "sessions.logout.done")
})

const logout = Page.account({
  path: "/whatsapp/:id/logout",
  permission: "sessions:write",
  read: sessionIn,
  draw: (session, ask) => ({
    title: ask.t.text("sessions.logout.title", { name: session.name }),
    crumbs: sessionCrumbs(ask, session),
    content: html`<p>${ask.t.text("sessions.logout.text")}</p>
${form(ask, leave, { submit: ask.t.text("sessions.logout"), tone: "danger", cancel: above(ask) })}`
  }),
  actions: [leave]
})

const removeSession = ifNamed(
  Action.make({
    name: "delete",
    endpoint: SessionsApi.endpoints.remove,
    isFresh: true,
    fields: namedFields("sessions.delete.typed"),
    request: (_, ask) => of(ask),
    after: (_, { ask }) => goTo(ask.to("/whatsapp"), "sessions.delete.done")
  })
)

/** The session, with how many contacts and groups go with it. */
const erased = Effect.fnUntraced(function*(ask: AccountAsk) {
  const session = yield* sessionIn(ask)
  const [filter, first] = [{ session_id: session.id }, { limit: 1, offset: 0, after: null }] as const
  const contacts = yield* (yield* Contacts).list(ask.accountId, filter, first)
  const groups = yield* (yield* Groups).list(ask.accountId, filter, first)
  return { session, contacts: contacts.total, groups: groups.total }
})

const remove = Page.account({
  path: "/whatsapp/:id/delete",
  permission: "sessions:write",
  read: erased,
  draw: ({ contacts, groups, session }, ask) => {
    const { t } = ask
    const { name } = session
    return {
      title: t.text("sessions.delete.title", { name }),
      crumbs: sessionCrumbs(ask, session),
      content: html`<p>${t.text("sessions.delete.text")}</p>
${
        facts([
          [t.text("contacts.title"), counted(ask, contacts)],
          [t.text("groups.title"), counted(ask, groups)]
        ])
      }
${
        form(ask, removeSession, {
          submit: t.text("sessions.delete.button"),
          tone: "danger",
          cancel: above(ask),
          values: { named: name }
        })
      }`
    }
  },
  actions: [removeSession]
})

/** What a person does with a session: pair it by a code or over a link, rename it, log it out, delete it. */
export const sessionChangePages = [code, link, rename, logout, remove] as const

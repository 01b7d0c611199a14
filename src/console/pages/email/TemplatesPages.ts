import { Effect, Option, Schema } from "effect"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import { html } from "../../../platform/http/html.ts"
import type { EmailTemplate, EmailTemplateSummary } from "../../../templates/EmailTemplate.ts"
import { Templates } from "../../../templates/Templates.ts"
import { TemplatesApi } from "../../../templates/TemplatesApi.ts"
import { type AccountId, TemplateId } from "../../../values/Ids.ts"
import { Action, goTo } from "../../page/Action.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { cursorsAround, pageOf, positionIn } from "../../page/cursor.ts"
import { Field } from "../../page/Field.ts"
import { Page } from "../../page/Page.ts"
import { buttonForm, form, isDraft } from "../../ui/form.ts"
import { card, code, emptyState, facts, foreign, icon, linkButton, moment } from "../../ui/parts.ts"
import { type Column, pager, table } from "../../ui/table.ts"
import { sendTemplate } from "../messages/sendActions.ts"
import { draftFrame, frameWith, imagesAndLinks, preview, valueLines, valuesForm } from "./templatePreview.ts"

const perPage = 25

const byId = Effect.fnUntraced(function*(accountId: AccountId, text: string | null | undefined) {
  const id = Schema.decodeUnknownOption(TemplateId)(text)
  if (Option.isNone(id)) return yield* new NotFound()
  return yield* (yield* Templates).find(accountId, id.value)
})

/** The template of the address. */
export const found = ({ accountId, params }: AccountAsk) => byId(accountId, params["id"])

/** The pages above those of a template. */
export const crumbs = ({ t, to }: AccountAsk) => [{ href: to("/templates"), label: t.text("templates.title") }]

const names = (variables: ReadonlyArray<string>) => html`${variables.map((name) => html`${code(name)} `)}`

const columns = (ask: AccountAsk): ReadonlyArray<Column<EmailTemplateSummary>> => {
  const { t, to } = ask
  return [
    {
      label: t.text("templates.name"),
      cell: ({ id, name }) => html`<a href="${to(`/templates/${id}`)}">${foreign(name)}</a>`
    },
    { label: t.text("templates.subject"), cell: ({ subject }) => html`<span class="clamp">${foreign(subject)}</span>` },
    { label: t.text("templates.variables"), cell: ({ variables }) => names(variables) },
    { label: t.text("templates.updated"), cell: ({ updated_at }) => moment(ask, updated_at) }
  ]
}

const Place = Schema.Tuple([Schema.Int])

const list = Page.account({
  path: "/templates",
  permission: "templates:read",
  entry: { group: "email", label: "nav.templates", icon: "file-text", order: 1, key: "t" },
  read: (ask) =>
    Effect.gen(function*() {
      const { rows } = yield* (yield* Templates).list(ask.accountId, {
        limit: perPage + 1,
        offset: 0,
        after: positionIn(ask, Place)
      })
      return pageOf(rows, perPage, ({ numeric_id }) => [numeric_id])
    }),
  draw: ({ older, rows }, ask) => {
    const { can, t, to } = ask
    const button = can("templates:write") &&
      linkButton(to("/templates/new"), t.text("templates.new"), { icon: "plus", tone: "main" })
    return {
      title: t.text("templates.title"),
      lead: t.text("templates.lead"),
      curl: "/v1/email/templates",
      buttons: rows.length > 0 && button,
      content: rows.length === 0
        ? emptyState({
          icon: "file-text",
          title: t.text("templates.empty.title"),
          text: t.text("templates.empty.text"),
          button
        })
        : html`${table(t.text("templates.caption"), columns(ask), rows)}${pager(ask, cursorsAround(ask, older))}`
    }
  }
})

const fields = {
  name: Field.text({ label: "templates.name", hint: "templates.nameHint", autocomplete: "off" }),
  subject: Field.text({ label: "templates.subject", autocomplete: "off" }),
  html: Field.textarea({ label: "templates.html", hint: "templates.htmlHint", isMono: true }),
  text: Field.textarea({ label: "templates.text", hint: "templates.textHint", optional: true })
}

interface Texts {
  readonly name: string | undefined
  readonly subject: string | undefined
  readonly html: string | undefined
  readonly text: string | undefined
}

/** The texts as the fields have them. */
const textsOf = ({ html: markup, subject, text }: EmailTemplate) => ({ subject, html: markup, text: text ?? undefined })

const payloadOf = ({ html: markup, name, subject, text }: Texts) => ({
  name: name ?? "",
  subject: subject ?? "",
  html: markup ?? "",
  text: text ?? null
})

/** What is typed, as its readers see it. */
const draftOf = ({ t }: AccountAsk, first: string) => ({
  label: t.text("templates.preview"),
  title: t.text("templates.preview.frame"),
  first
})

/** The answer to its button: the mail alone. */
const drafted = (ask: AccountAsk) =>
  isDraft(ask) && { frame: draftFrame(ask, Object.fromEntries(ask.attempt?.form ?? [])) }

const create = Action.make({
  name: "create",
  endpoint: TemplatesApi.endpoints.create,
  fields,
  request: (form) => ({ payload: payloadOf(form) }),
  after: ({ data }, { ask }) => goTo(ask.to(`/templates/${data.id}`), "templates.create.done")
})

/** The template that gives the new one its texts: `copy` of the address names it. */
const copiedIn = Effect.fnUntraced(function*({ accountId, query }: AccountAsk) {
  return query.has("copy") ? yield* byId(accountId, query.get("copy")) : undefined
})

const make = Page.account({
  path: "/templates/new",
  permission: "templates:write",
  read: copiedIn,
  draw: (copied, ask) => {
    const { t, to } = ask
    return {
      title: t.text("templates.create.title"),
      crumbs: crumbs(ask),
      ...drafted(ask),
      content: form(ask, create, {
        submit: t.text("templates.create.button"),
        cancel: to("/templates"),
        draft: draftOf(ask, to(copied === undefined ? "/templates/new?draft" : `/templates/${copied.id}/frame`)),
        ...(copied !== undefined && {
          values: { ...textsOf(copied), name: t.text("templates.duplicate.name", { name: copied.name }) }
        })
      })
    }
  },
  actions: [create]
})

/** Sends the mail to the signed-in person, with the values of the address. */
const sendTest = (ask: AccountAsk, { id, variables }: EmailTemplate) =>
  buttonForm(ask, sendTemplate, {
    label: html`${icon("mail")}<span>${ask.t.text("templates.sendTest")}</span>`,
    values: { to: ask.signedIn.person.email, template_id: id, variables: valueLines(ask, variables) },
    at: `${ask.to("/send")}?channel=email&template=${id}`
  })

const one = Page.account({
  path: "/templates/:id",
  permission: "templates:read",
  read: found,
  draw: (template, ask) => {
    const { can, t, to } = ask
    const { created_at, id, name, updated_at, variables } = template
    return {
      title: name,
      crumbs: crumbs(ask),
      curl: `/v1/email/templates/${id}`,
      buttons: html`${
        can("emails:write") &&
        html`${sendTest(ask, template)}${
          linkButton(`${to("/send")}?channel=email&template=${id}`, t.text("templates.send"), { icon: "send" })
        }`
      }${linkButton(to(`/templates/${id}/versions`), t.text("templates.versions"), { icon: "clock" })}${
        can("templates:write") &&
        html`${linkButton(`${to("/templates/new")}?copy=${id}`, t.text("templates.duplicate"), { icon: "copy" })}${
          linkButton(to(`/templates/${id}/edit`), t.text("templates.edit"), { tone: "main" })
        }${
          linkButton(to(`/templates/${id}/delete`), t.text("templates.delete"), { tone: "danger", opensDialog: true })
        }`
      }`,
      content: html`<div class="cards">${card(t.text("templates.preview"), preview(ask, template), "preview")}${
        variables.length > 0 && card(t.text("templates.preview.values"), valuesForm(ask, variables), "values")
      }${imagesAndLinks(ask, template)}${
        card(
          t.text("templates.facts"),
          facts([
            [t.text("templates.id"), code(id)],
            [t.text("templates.variables"), variables.length === 0 ? t.text("common.none") : names(variables)],
            [t.text("templates.updated"), moment(ask, updated_at)],
            [t.text("templates.created"), moment(ask, created_at)]
          ]),
          "facts"
        )
      }</div>`
    }
  }
})

const frame = Page.account({
  path: "/templates/:id/frame",
  permission: "templates:read",
  read: found,
  draw: (template, ask) => ({ title: template.name, content: html``, frame: frameWith(ask, template) })
})

const update = Action.make({
  name: "update",
  endpoint: TemplatesApi.endpoints.update,
  fields,
  request: (form, { params }) => ({ params: { template_id: params["id"] }, payload: payloadOf(form) }),
  after: ({ data }, { ask }) => goTo(ask.to(`/templates/${data.id}`), "templates.edit.done")
})

const edit = Page.account({
  path: "/templates/:id/edit",
  permission: "templates:write",
  read: found,
  draw: (template, ask) => {
    const { id, name } = template
    return {
      title: ask.t.text("templates.edit.title", { name }),
      crumbs: [...crumbs(ask), { href: ask.to(`/templates/${id}`), label: name }],
      ...drafted(ask),
      content: form(ask, update, {
        submit: ask.t.text("templates.edit.button"),
        cancel: ask.to(`/templates/${id}`),
        draft: draftOf(ask, ask.to(`/templates/${id}/frame`)),
        values: { ...textsOf(template), name }
      })
    }
  },
  actions: [update]
})

const remove = Action.make({
  name: "delete",
  endpoint: TemplatesApi.endpoints.remove,
  isFresh: true,
  fields: {},
  request: (_, { params }) => ({ params: { template_id: params["id"] } }),
  after: (_, { ask }) => goTo(ask.to("/templates"), "templates.delete.done")
})

const erase = Page.account({
  path: "/templates/:id/delete",
  permission: "templates:write",
  read: found,
  draw: ({ id, name }, ask) => {
    const { t, to } = ask
    return {
      title: t.text("templates.delete.title", { name }),
      crumbs: [...crumbs(ask), { href: to(`/templates/${id}`), label: name }],
      content: html`<p>${t.rich("templates.delete.text", { id: code(id) })}</p>
${form(ask, remove, { submit: t.text("templates.delete.button"), tone: "danger", cancel: to(`/templates/${id}`) })}`
    }
  },
  actions: [remove]
})

/** The pages of email templates: list, new, one with its preview, edit, delete. */
export const templatesPages = [list, make, one, frame, edit, erase] as const

import { Effect, Option, Result, Schema } from "effect"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import { html } from "../../../platform/http/html.ts"
import type { EmailTemplate, EmailTemplateSummary } from "../../../templates/EmailTemplate.ts"
import * as Template from "../../../templates/Template.ts"
import { Templates } from "../../../templates/Templates.ts"
import { TemplatesApi } from "../../../templates/TemplatesApi.ts"
import { TemplateId } from "../../../values/Ids.ts"
import { Action, goTo } from "../../page/Action.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { cursorsAround, pageOf, positionIn } from "../../page/cursor.ts"
import { Field } from "../../page/Field.ts"
import { Page } from "../../page/Page.ts"
import { form } from "../../ui/form.ts"
import { card, code, emptyState, facts, foreign, linkButton, moment, number } from "../../ui/parts.ts"
import { tabs } from "../../ui/progress.ts"
import { type Column, pager, table } from "../../ui/table.ts"

const perPage = 25

const crumbs = ({ t, to }: AccountAsk) => [{ href: to("/templates"), label: t.text("templates.title") }]

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

const payloadOf = ({ html: markup, name, subject, text }: Texts) => ({
  name: name ?? "",
  subject: subject ?? "",
  html: markup ?? "",
  text: text ?? null
})

const create = Action.make({
  name: "create",
  endpoint: TemplatesApi.endpoints.create,
  fields,
  request: (form) => ({ payload: payloadOf(form) }),
  after: ({ data }, { ask }) => goTo(ask.to(`/templates/${data.id}`), "templates.create.done")
})

const make = Page.account({
  path: "/templates/new",
  permission: "templates:write",
  read: () => Effect.void,
  draw: (_, ask) => ({
    title: ask.t.text("templates.create.title"),
    crumbs: crumbs(ask),
    content: form(ask, create, { submit: ask.t.text("templates.create.button"), cancel: ask.to("/templates") })
  }),
  actions: [create]
})

const found = Effect.fnUntraced(function*({ accountId, params }: AccountAsk) {
  const id = Schema.decodeUnknownOption(TemplateId)(params["id"])
  if (Option.isNone(id)) return yield* new NotFound()
  return yield* (yield* Templates).find(accountId, id.value)
})

/** Parameters of the address that hold a value to try. */
const prefix = "v."

/** The texts with the values of the address. A place without one shows its name. */
const filledIn = ({ query }: AccountAsk, { html: markup, subject, text, variables }: EmailTemplate) => {
  const values: Record<string, unknown> = {}
  for (const name of variables) {
    const [first = "", second] = name.split(".", 2)
    const given = query.get(`${prefix}${name}`)
    const value = given === null || given === "" ? `{{${name}}}` : given
    const inner = values[first]
    values[first] = second === undefined ? value : { ...(typeof inner === "object" && inner), [second]: value }
  }
  return Result.match(Template.compile({ subject, html: markup, text }), {
    onSuccess: (compiled) => Template.render(compiled, values),
    // Stored texts were compiled before they were stored.
    onFailure: () => ({ subject, html: markup, text: text ?? undefined })
  })
}

const views = ["wide", "phone", "plain"] as const
type View = (typeof views)[number]

const viewIn = ({ query }: AccountAsk): View => views.find((view) => view === query.get("view")) ?? "wide"

/** From this size on, large providers cut a mail. */
const cutAt = 102 * 1024

const viewTabs = (ask: AccountAsk) => {
  const { path, query, t } = ask
  return tabs(
    t.text("templates.preview.views"),
    views.map((view) => {
      const next = new URLSearchParams(query)
      next.set("view", view)
      return {
        label: t.text(`templates.preview.${view}`),
        href: `${path}?${next}`,
        isCurrent: view === viewIn(ask)
      }
    })
  )
}

const preview = (ask: AccountAsk, template: EmailTemplate) => {
  const { query, t, to } = ask
  const { html: markup = "", subject, text = "" } = filledIn(ask, template)
  const view = viewIn(ask)
  const bytes = Buffer.byteLength(markup)
  const size = number(ask, Math.max(1, Math.round(bytes / 1024)))
  const values = new URLSearchParams([...query].filter(([name]) => name.startsWith(prefix)))
  return html`${viewTabs(ask)}
<p class="subject"><span class="quiet">${t.text("templates.subject")}:</span> ${foreign(subject)}</p>
${
    view === "plain"
      ? html`<pre class="mail-text" tabindex="0" role="group" aria-label="${t.text("templates.preview.plain")}">${
        foreign(text)
      }</pre>`
      : html`<iframe class="mail ${view}" sandbox title="${t.text("templates.preview.frame")}" src="${
        to(`/templates/${template.id}/frame`)
      }?${values.toString()}"></iframe>`
  }
<p class="hint">${
    bytes > cutAt ? t.text("templates.preview.large", { size }) : t.text("templates.preview.size", { size })
  }</p>`
}

/** Most values that the page offers to try. */
const mostValues = 30

const valuesForm = (ask: AccountAsk, { variables }: EmailTemplate) => {
  const { path, query, t } = ask
  return html`<form method="get" action="${path}" class="form"><input type="hidden" name="view" value="${
    viewIn(ask)
  }">${
    variables.slice(0, mostValues).map((name) =>
      html`<div class="field"><label for="value-${name}"><code>${name}</code></label><input id="value-${name}" name="${prefix}${name}" value="${
        query.get(`${prefix}${name}`) ?? ""
      }"></div>`
    )
  }<div class="buttons"><button>${t.text("templates.preview.apply")}</button></div></form>`
}

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
        linkButton(`${to("/send")}?channel=email&template=${id}`, t.text("templates.send"), { icon: "send" })
      }${
        can("templates:write") &&
        html`${linkButton(to(`/templates/${id}/edit`), t.text("templates.edit"), { tone: "main" })}${
          linkButton(to(`/templates/${id}/delete`), t.text("templates.delete"), { tone: "danger", opensDialog: true })
        }`
      }`,
      content: html`<div class="cards">${card(t.text("templates.preview"), preview(ask, template), "preview")}${
        variables.length > 0 && card(t.text("templates.preview.values"), valuesForm(ask, template), "values")
      }${
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

const doctype = /^\s*<!doctype[^>]{0,300}>/i

/** The mail's own markup, for the frame of the preview. What it may do, the headers of frames say. */
const frame = Page.account({
  path: "/templates/:id/frame",
  permission: "templates:read",
  read: found,
  draw: (template, ask) => {
    const { html: markup = "" } = filledIn(ask, template)
    const [head = ""] = doctype.exec(markup) ?? []
    return {
      title: template.name,
      content: html``,
      frame: `${head}<meta charset="utf-8">${markup.slice(head.length)}`
    }
  }
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
  draw: ({ html: markup, id, name, subject, text }, ask) => ({
    title: ask.t.text("templates.edit.title", { name }),
    crumbs: [...crumbs(ask), { href: ask.to(`/templates/${id}`), label: name }],
    content: form(ask, update, {
      submit: ask.t.text("templates.edit.button"),
      cancel: ask.to(`/templates/${id}`),
      values: { name, subject, html: markup, text: text ?? undefined }
    })
  }),
  actions: [update]
})

const remove = Action.make({
  name: "delete",
  endpoint: TemplatesApi.endpoints.remove,
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

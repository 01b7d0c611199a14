import { Effect } from "effect"
import { html } from "../../../platform/http/html.ts"
import type { EmailTemplate, EmailTemplateVersionSummary } from "../../../templates/EmailTemplate.ts"
import { Templates } from "../../../templates/Templates.ts"
import { TemplatesApi } from "../../../templates/TemplatesApi.ts"
import { TemplateVersionId } from "../../../values/Ids.ts"
import { Action, goTo } from "../../page/Action.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { idIn, Page } from "../../page/Page.ts"
import { buttonForm, refusalOf } from "../../ui/form.ts"
import { card, emptyState, foreign, moment, momentText, note } from "../../ui/parts.ts"
import { type Column, table } from "../../ui/table.ts"
import { frameWith, imagesAndLinks, preview } from "./templatePreview.ts"
import { crumbs, found } from "./TemplatesPages.ts"

const below = (ask: AccountAsk, { id, name }: EmailTemplate) => [
  ...crumbs(ask),
  { href: ask.to(`/templates/${id}`), label: name }
]

const columns = (ask: AccountAsk, { id }: EmailTemplate): ReadonlyArray<Column<EmailTemplateVersionSummary>> => [
  {
    label: ask.t.text("templates.versions.until"),
    cell: (version) =>
      html`<a href="${ask.to(`/templates/${id}/versions/${version.id}`)}">${moment(ask, version.created_at)}</a>`
  },
  {
    label: ask.t.text("templates.subject"),
    cell: ({ subject }) => html`<span class="clamp">${foreign(subject)}</span>`
  }
]

const list = Page.account({
  path: "/templates/:id/versions",
  permission: "templates:read",
  read: (ask) =>
    Effect.gen(function*() {
      const template = yield* found(ask)
      return { template, versions: yield* (yield* Templates).versions(ask.accountId, template.id) }
    }),
  draw: ({ template, versions }, ask) => {
    const { t } = ask
    return {
      title: t.text("templates.versions.title", { name: template.name }),
      lead: t.text("templates.versions.lead"),
      crumbs: below(ask, template),
      curl: `/v1/email/templates/${template.id}/versions`,
      content: versions.length === 0
        ? emptyState({
          icon: "clock",
          title: t.text("templates.versions.empty.title"),
          text: t.text("templates.versions.empty.text")
        })
        : table(t.text("templates.versions.caption"), columns(ask, template), versions)
    }
  }
})

const restore = Action.make({
  name: "restore",
  endpoint: TemplatesApi.endpoints.restore,
  fields: {},
  request: (_, { params }) => ({ params: { template_id: params["id"], version_id: params["version"] } }),
  after: ({ data }, { ask }) => goTo(ask.to(`/templates/${data.id}`), "templates.restore.done")
})

const read = Effect.fnUntraced(function*(ask: AccountAsk) {
  const template = yield* found(ask)
  const id = yield* idIn(ask, TemplateVersionId, "version")
  return { template, version: yield* (yield* Templates).version(ask.accountId, template.id, id) }
})

const one = Page.account({
  path: "/templates/:id/versions/:version",
  permission: "templates:read",
  read,
  draw: ({ template, version }, ask) => {
    const { can, t, to } = ask
    const versions = `/templates/${template.id}/versions` as const
    return {
      title: t.text("templates.version.title", { name: template.name, time: momentText(ask, version.created_at) }),
      crumbs: [...below(ask, template), { href: to(versions), label: t.text("templates.versions") }],
      curl: `/v1/email${versions}/${version.id}`,
      buttons: can("templates:write") && buttonForm(ask, restore, { label: t.text("templates.restore"), tone: "main" }),
      content: html`${refusalOf(ask)}${can("templates:write") && note(t.text("templates.restore.hint"))}
<div class="cards">${card(t.text("templates.preview"), preview(ask, version), "preview")}${
        imagesAndLinks(ask, version)
      }</div>`
    }
  },
  actions: [restore]
})

const frame = Page.account({
  path: "/templates/:id/versions/:version/frame",
  permission: "templates:read",
  read,
  draw: ({ template, version }, ask) => ({ title: template.name, content: html``, frame: frameWith(ask, version) })
})

/** The pages of the texts that a template had before: list, one with its preview and *Restore*. */
export const templateVersionsPages = [list, one, frame] as const

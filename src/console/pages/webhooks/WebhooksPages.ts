import { Effect, Schema } from "effect"
import { html } from "../../../platform/http/html.ts"
import type { Webhook } from "../../../webhooks/endpoint/Webhook.ts"
import { WebhookFigures } from "../../../webhooks/history/WebhookFigures.ts"
import { Webhooks } from "../../../webhooks/Webhooks.ts"
import { WebhooksApi } from "../../../webhooks/WebhooksApi.ts"
import { Action, goTo } from "../../page/Action.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { cursorsAround, pageOf, positionIn } from "../../page/cursor.ts"
import { Field } from "../../page/Field.ts"
import { Page } from "../../page/Page.ts"
import { form } from "../../ui/form.ts"
import { code, emptyState, linkButton } from "../../ui/parts.ts"
import { type Column, pager, table } from "../../ui/table.ts"
import { figureColumns, type Figured } from "./webhookFigures.ts"
import {
  changes,
  eventOptions,
  eventsOf,
  healthOf,
  paidNote,
  webhookCrumbs,
  webhookIn,
  webhookPath
} from "./webhookParts.ts"

/** Most accounts have fewer, so their unhealthy webhooks stand above all others. */
const perPage = 100

const healthOrder: Readonly<Record<Webhook["status"], number>> = { unhealthy: 0, active: 1, disabled: 2 }

const columns = (ask: AccountAsk): ReadonlyArray<Column<Figured>> => {
  const { can, t, to } = ask
  return [
    {
      label: t.text("webhooks.url"),
      cell: ([{ id, url }]) => html`<a href="${to(webhookPath(id))}">${code(url)}</a>`
    },
    { label: t.text("webhooks.health"), cell: ([webhook]) => healthOf(ask, webhook) },
    { label: t.text("webhooks.events"), cell: ([{ events }]) => eventsOf(ask, events, 3) },
    ...figureColumns(ask),
    ...(can("webhooks:write")
      ? [{
        label: t.text("webhooks.recover"),
        kind: "actions" as const,
        cell: ([{ id, url }]: Figured) =>
          linkButton(to(webhookPath(id, "/recover")), t.text("webhooks.recover"), {
            label: `${t.text("webhooks.recover")}: ${url}`
          })
      }]
      : [])
  ]
}

const list = Page.account({
  path: "/webhooks",
  permission: "webhooks:read",
  entry: { group: "webhooks", label: "nav.webhooks", icon: "webhook", order: 1, key: "w" },
  read: (ask) =>
    Effect.gen(function*() {
      const after = positionIn(ask, Schema.Tuple([Schema.Int]))
      const { rows } = yield* (yield* Webhooks).list(ask.accountId, { limit: perPage + 1, offset: 0, after })
      const page = pageOf(rows, perPage, ({ id }) => [id])
      const figures = yield* (yield* WebhookFigures).ofEach(ask.accountId, page.rows.map(({ id }) => id))
      const sorted = page.rows.toSorted((one, other) => healthOrder[one.status] - healthOrder[other.status])
      return { ...page, rows: sorted.map((webhook): Figured => [webhook, figures.get(webhook.id)]) }
    }),
  draw: ({ older, rows }, ask) => {
    const { t, to } = ask
    const button = changes(ask) &&
      linkButton(to("/webhooks/new"), t.text("webhooks.new"), { icon: "plus", tone: "main" })
    const none = emptyState({
      icon: "webhook",
      title: t.text("webhooks.empty.title"),
      text: t.text("webhooks.empty.text"),
      button
    })
    return {
      title: t.text("webhooks.title"),
      lead: t.text("webhooks.lead"),
      curl: "/v1/webhooks",
      buttons: rows.length > 0 && button,
      content: html`${paidNote(ask)}${
        rows.length === 0 ? none : table(t.text("webhooks.caption"), columns(ask), rows)
      }${pager(ask, cursorsAround(ask, older))}`
    }
  }
})

/** Sends the webhook an example of an event. */
export const sendTest = Action.make({
  name: "test",
  endpoint: WebhooksApi.endpoints.test,
  fields: {
    event: Field.select({
      label: "webhooks.test.event",
      options: (ask) => eventOptions(ask).map(({ label, value }) => ({ label, value }))
    })
  },
  request: ({ event }, { params }) => ({ params: { id: params["id"] }, payload: { event: event ?? "" } }),
  after: ({ data }, { ask }) =>
    goTo(ask.to(webhookPath(data.webhook_id, `/deliveries/${data.id}`)), "webhooks.test.done")
})

const test = Page.account({
  path: "/webhooks/:id/test",
  permission: "webhooks:write",
  read: webhookIn,
  draw: (webhook, ask) => ({
    title: ask.t.text("webhooks.test.title"),
    crumbs: webhookCrumbs(ask, webhook),
    content: html`<p>${ask.t.rich("webhooks.test.text", { url: code(webhook.url) })}</p>
${form(ask, sendTest, { submit: ask.t.text("webhooks.test.button"), cancel: ask.to(webhookPath(webhook.id)) })}`
  }),
  actions: [sendTest]
})

const removeWebhook = Action.make({
  name: "delete",
  endpoint: WebhooksApi.endpoints.remove,
  isFresh: true,
  fields: {},
  request: (_, { params }) => ({ params: { id: params["id"] } }),
  after: (_, { ask }) => goTo(ask.to("/webhooks"), "webhooks.delete.done")
})

const remove = Page.account({
  path: "/webhooks/:id/delete",
  permission: "webhooks:write",
  read: webhookIn,
  draw: (webhook, ask) => ({
    title: ask.t.text("webhooks.delete.title"),
    crumbs: webhookCrumbs(ask, webhook),
    content: html`<p>${ask.t.rich("webhooks.delete.text", { url: code(webhook.url) })}</p>
${
      form(ask, removeWebhook, {
        submit: ask.t.text("webhooks.delete.button"),
        tone: "danger",
        cancel: ask.to(webhookPath(webhook.id))
      })
    }`
  }),
  actions: [removeWebhook]
})

/** The pages of webhooks: list, test, delete. */
export const webhooksPages = [list, test, remove] as const

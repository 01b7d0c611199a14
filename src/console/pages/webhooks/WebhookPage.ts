import { Effect } from "effect"
import { html } from "../../../platform/http/html.ts"
import type { Webhook } from "../../../webhooks/endpoint/Webhook.ts"
import { Deliveries } from "../../../webhooks/history/Deliveries.ts"
import type { DeliverySummary } from "../../../webhooks/history/Delivery.ts"
import { WebhookFigures } from "../../../webhooks/history/WebhookFigures.ts"
import { WebhooksApi } from "../../../webhooks/WebhooksApi.ts"
import { Action, goTo } from "../../page/Action.ts"
import { type AccountAsk, type Ask, withQuery } from "../../page/Ask.ts"
import { Page } from "../../page/Page.ts"
import { buttonForm, refusalOf } from "../../ui/form.ts"
import { card, code, emptyState, facts, linkButton, moment, number } from "../../ui/parts.ts"
import { table } from "../../ui/table.ts"
import { deliveryColumns, fromNewest } from "./deliveryParts.ts"
import { receiverFor, receiverSwitch, switchReceiver } from "./receiverCard.ts"
import { figuresCard } from "./webhookFigures.ts"
import {
  changes,
  eventsOf,
  healthOf,
  listCrumbs,
  paidNote,
  urlText,
  webhookIn,
  webhookPath,
  whyOf
} from "./webhookParts.ts"

/** How many deliveries the page shows. */
const mostShown = 10

/** Enables or disables the webhook of the address. */
const activation = (name: "enable" | "disable") =>
  Action.make({
    name,
    endpoint: WebhooksApi.endpoints.update,
    fields: {},
    request: (_, { params }) => ({ params: { id: params["id"] }, payload: { is_active: name === "enable" } }),
    after: (_, { ask }) => goTo(withQuery(ask, {}), name === "enable" ? "webhooks.enabled" : "webhooks.disabled")
  })

export const enable = activation("enable")
const disable = activation("disable")

const buttonsOf = (ask: AccountAsk, { id, status }: Webhook) => {
  const { can, t, to } = ask
  return html`${
    can("webhooks:write") &&
    linkButton(to(webhookPath(id, "/test")), t.text("webhooks.test"), {
      icon: "send",
      ...(status === "active" && { tone: "main" as const })
    })
  }${linkButton(to(webhookPath(id, "/deliveries")), t.text("deliveries.all"), { icon: "list" })}${
    linkButton(to(webhookPath(id, "/recover")), t.text("webhooks.recover"), { icon: "refresh-cw" })
  }${
    changes(ask) && (status === "active"
      ? buttonForm(ask, disable, { label: t.text("webhooks.disable") })
      : buttonForm(ask, enable, { label: t.text("webhooks.enable"), tone: "main" }))
  }`
}

const settingsButtons = (ask: AccountAsk, { id }: Webhook) => {
  const { t, to } = ask
  return changes(ask) &&
    html`<div class="buttons">${
      linkButton(to(webhookPath(id, "/edit")), t.text("webhooks.edit"), { icon: "settings" })
    }${linkButton(to(webhookPath(id, "/rotate")), t.text("webhooks.rotate"), { icon: "key-round" })}${
      linkButton(to(webhookPath(id, "/delete")), t.text("webhooks.delete"), {
        icon: "trash",
        tone: "danger",
        opensDialog: true
      })
    }</div>`
}

const words = ({ t }: Ask, values: ReadonlyArray<string>) =>
  values.length === 0 ? t.text("webhooks.all") : html`${values.map((value) => html`${code(value)} `)}`

const settings = (ask: AccountAsk, webhook: Webhook) => {
  const { t } = ask
  const headers = Object.keys(webhook.headers)
  return card(
    t.text("webhooks.settings"),
    html`${
      facts([
        [t.text("webhooks.health"), healthOf(ask, webhook)],
        [t.text("webhooks.failures"), number(ask, webhook.failure_count)],
        [t.text("webhooks.events"), eventsOf(ask, webhook.events)],
        [t.text("webhooks.channels"), words(ask, webhook.channels)],
        [t.text("webhooks.tags"), words(ask, webhook.tags)],
        [t.text("webhooks.retry"), t.text(`webhooks.retry.${webhook.retry_policy}`)],
        [
          t.text("webhooks.headers"),
          headers.length === 0 ? t.text("common.none") : html`${headers.map((name) => html`${code(name)} `)}`
        ],
        [t.text("webhooks.secret"), code(`${webhook.secret}…`)],
        [t.text("webhooks.created"), moment(ask, webhook.created_at)]
      ])
    }${settingsButtons(ask, webhook)}`,
    "settings"
  )
}

/** The newest deliveries. */
const newest = (ask: AccountAsk, rows: ReadonlyArray<DeliverySummary>) => {
  const { t } = ask
  return html`<h2>${t.text("deliveries.title")}</h2>${
    rows.length > 0
      ? table(t.text("deliveries.caption"), deliveryColumns(ask), rows)
      : emptyState({
        icon: "inbox",
        title: t.text("deliveries.empty.title"),
        text: t.text("deliveries.empty.text")
      })
  }`
}

/** One webhook with its deliveries. */
export const webhookPage = Page.account({
  path: "/webhooks/:id",
  permission: "webhooks:read",
  read: (ask) =>
    Effect.gen(function*() {
      const webhook = yield* webhookIn(ask)
      const { rows } = yield* (yield* Deliveries).list(
        { accountId: ask.accountId, id: webhook.id },
        { sort: "-created_at" },
        { limit: mostShown, offset: 0, after: fromNewest }
      )
      const receiver = yield* receiverFor(ask)
      const statistics = yield* (yield* WebhookFigures).of({ accountId: ask.accountId, id: webhook.id })
      return { webhook, receiver, statistics, deliveries: rows }
    }),
  draw: ({ deliveries, receiver, statistics, webhook }, ask) => ({
    title: urlText(ask, webhook),
    isLive: true,
    crumbs: listCrumbs(ask),
    curl: `/v1/webhooks/${webhook.id}`,
    buttons: buttonsOf(ask, webhook),
    content: html`<div class="stack">${refusalOf(ask)}${whyOf(ask, webhook)}${paidNote(ask)}${
      receiverSwitch(ask, receiver, webhook.url)
    }${figuresCard(ask, statistics)}${settings(ask, webhook)}</div>
${newest(ask, deliveries)}`
  }),
  actions: [enable, disable, switchReceiver]
})

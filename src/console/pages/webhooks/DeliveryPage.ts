import { Effect } from "effect"
import { html } from "../../../platform/http/html.ts"
import { DeliveryId } from "../../../values/Ids.ts"
import { isFinal } from "../../../webhooks/delivery/DeliveryState.ts"
import { Deliveries } from "../../../webhooks/history/Deliveries.ts"
import type { DeliveryDetail } from "../../../webhooks/history/Delivery.ts"
import { WebhooksApi } from "../../../webhooks/WebhooksApi.ts"
import { Action, goTo } from "../../page/Action.ts"
import { type Ask, withQuery } from "../../page/Ask.ts"
import { idIn, Page } from "../../page/Page.ts"
import { buttonForm, refusalOf } from "../../ui/form.ts"
import { badge, card, code, copyable, facts, foreign, moment, note, number } from "../../ui/parts.ts"
import { tabs } from "../../ui/progress.ts"
import { type Column, table } from "../../ui/table.ts"
import { answerOf, durationOf, statusBadge } from "./deliveryParts.ts"
import { saveBody, signatureCommand, type SignatureTool, signatureTools } from "./signature.ts"
import { webhookCrumbs, webhookIn, webhookPath } from "./webhookParts.ts"

const toolNames: Readonly<Record<SignatureTool, string>> = {
  openssl: "OpenSSL",
  node: "Node",
  python: "Python",
  php: "PHP",
  go: "Go"
}

type Attempt = DeliveryDetail["attempts"][number]

const attemptColumns = (ask: Ask): ReadonlyArray<Column<Attempt>> => [
  { label: ask.t.text("delivery.attempt"), cell: ({ attempt }) => number(ask, attempt) },
  { label: ask.t.text("delivery.started"), cell: ({ started_at }) => moment(ask, started_at) },
  { label: ask.t.text("deliveries.code"), cell: (attempt) => answerOf(ask, attempt) },
  { label: ask.t.text("deliveries.duration"), kind: "number", cell: ({ duration_ms }) => durationOf(ask, duration_ms) }
]

/** What the endpoint answered, each answer as text. */
const bodies = ({ t }: Ask, attempts: ReadonlyArray<Attempt>) =>
  attempts.flatMap(({ attempt, response_body }) =>
    response_body === null || response_body === "" ? [] : [
      html`<h3>${
        t.text("delivery.bodyOf", { attempt })
      }</h3><pre class="answer" tabindex="0" role="group" aria-label="${t.text("delivery.bodyOf", { attempt })}">${
        foreign(response_body)
      }</pre>`
    ]
  )

/** Makes a delivery again, as a new one. */
export const redeliver = Action.make({
  name: "redeliver",
  endpoint: WebhooksApi.endpoints.redeliver,
  fields: {},
  request: (_, { params }) => ({ params: { id: params["id"], delivery_id: params["delivery_id"] } }),
  after: ({ data }, { ask }) =>
    goTo(ask.to(webhookPath(data.webhook_id, `/deliveries/${data.id}`)), "delivery.redelivered")
})

const about = (ask: Ask, delivery: DeliveryDetail) => {
  const { t } = ask
  return card(
    t.text("delivery.about"),
    facts([
      [t.text("deliveries.status"), statusBadge(ask, delivery.status)],
      [
        t.text("deliveries.event"),
        html`${code(delivery.event)}${delivery.is_test && html` ${badge(t.text("deliveries.test"), "quiet")}`}`
      ],
      [t.text("delivery.eventId"), code(delivery.event_id)],
      [t.text("deliveries.code"), answerOf(ask, delivery)],
      [t.text("deliveries.created"), moment(ask, delivery.created_at)],
      delivery.next_attempt_at === null
        ? [
          t.text("delivery.completed"),
          delivery.completed_at === null ? t.text("common.none") : moment(ask, delivery.completed_at)
        ]
        : [t.text("delivery.next"), moment(ask, delivery.next_attempt_at)]
    ]),
    "about"
  )
}

const attemptsOf = (ask: Ask, { attempts }: DeliveryDetail) => {
  const { t } = ask
  return html`<h2>${t.text("delivery.attempts")}</h2>${
    attempts.length === 0
      ? note(t.text("delivery.noAttempts"))
      : table(t.text("delivery.attemptsCaption"), attemptColumns(ask), attempts)
  }${bodies(ask, attempts)}`
}

/** How to compute the signature of the last attempt. */
const signatureOf = (ask: Ask, delivery: DeliveryDetail) => {
  const { t } = ask
  const last = delivery.attempts.at(-1)
  if (last === undefined || delivery.payload === null) return false
  const asked = ask.query.get("tool")
  const current = signatureTools.find((tool) => tool === asked) ?? "openssl"
  const command = signatureCommand(current, { event_id: delivery.event_id, startedAt: last.started_at })
  return card(
    t.text("delivery.signature"),
    html`<p>${t.text("delivery.signatureText", { attempt: last.attempt })}</p><h3>${t.text("delivery.saveBody")}</h3>${
      copyable(ask, saveBody(delivery), { label: t.text("delivery.saveBody"), isBlock: true })
    }<h3>${t.text("delivery.compute")}</h3>${
      tabs(
        t.text("delivery.tools"),
        signatureTools.map((tool) => ({
          label: toolNames[tool],
          href: `${withQuery(ask, { tool })}#signature`,
          isCurrent: tool === current
        }))
      )
    }${copyable(ask, command, { label: t.text("delivery.compute"), isBlock: true })}`,
    "signature"
  )
}

/** One delivery: its answer, its attempts, and what was sent. */
export const deliveryPage = Page.account({
  path: "/webhooks/:id/deliveries/:delivery_id",
  permission: "webhooks:read",
  read: (ask) =>
    Effect.gen(function*() {
      const webhook = yield* webhookIn(ask)
      const id = yield* idIn(ask, DeliveryId, "delivery_id")
      const found = yield* (yield* Deliveries).find({ accountId: ask.accountId, id: webhook.id }, id)
      return { webhook, found }
    }),
  draw: ({ found, webhook }, ask) => {
    const { can, t } = ask
    return {
      title: t.text("delivery.title", { id: String(found.id) }),
      isLive: !isFinal(found.status),
      crumbs: webhookCrumbs(ask, webhook),
      curl: `/v1/webhooks/${webhook.id}/deliveries/${found.id}`,
      buttons: can("webhooks:write") && webhook.status === "active" && found.payload !== null &&
        buttonForm(ask, redeliver, { label: t.text("delivery.redeliver") }),
      content: html`<div class="stack">${refusalOf(ask)}${about(ask, found)}</div>
${attemptsOf(ask, found)}
<h2>${t.text("delivery.payload")}</h2>
${
        found.payload === null
          ? note(t.text("delivery.payloadGone"))
          : copyable(ask, JSON.stringify(found.payload, null, 2), { label: t.text("delivery.payload"), isBlock: true })
      }${signatureOf(ask, found)}`
    }
  },
  actions: [redeliver]
})

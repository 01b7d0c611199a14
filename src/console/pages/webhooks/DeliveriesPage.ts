import { DateTime, Effect, Schema } from "effect"
import { html } from "../../../platform/http/html.ts"
import { DeliveryStatus } from "../../../webhooks/delivery/DeliveryState.ts"
import type { Webhook } from "../../../webhooks/endpoint/Webhook.ts"
import { Deliveries } from "../../../webhooks/history/Deliveries.ts"
import { RecoverableStatus } from "../../../webhooks/recovery/Recovery.ts"
import { WebhooksApi } from "../../../webhooks/WebhooksApi.ts"
import type { Key } from "../../language/Messages.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import { cursorsAround, pageOf, positionIn } from "../../page/cursor.ts"
import { localText } from "../../page/Field.ts"
import { filtersIn, type Given, tidied, zoneName } from "../../page/filter.ts"
import { Page } from "../../page/Page.ts"
import { emptyState, linkButton } from "../../ui/parts.ts"
import { appliedFilters, filterChoice, filterFields, pager, search, table } from "../../ui/table.ts"
import { deliveryColumns, eventAndAnswer, fromNewest } from "./deliveryParts.ts"
import { webhookCrumbs, webhookIn, webhookPath } from "./webhookParts.ts"

const perPage = 50

/** The filters of the address, each with the text of its name. */
const names = ["message", "status", "event", "response_code", "from_date", "to_date"] as const
type Name = (typeof names)[number]

const labels: Readonly<Record<Name, Key>> = {
  message: "messages.text",
  status: "deliveries.status",
  event: "deliveries.event",
  response_code: "deliveries.code",
  from_date: "messages.from_date",
  to_date: "messages.to_date"
}

/** The search with the filter below it. */
const searchOf = (ask: Ask) => {
  const { t } = ask
  const fields = html`${
    filterChoice(ask, {
      name: "status",
      label: t.text("deliveries.status"),
      options: DeliveryStatus.literals.map((status) => [status, t.text(`delivery.status.${status}`)])
    })
  }${eventAndAnswer(ask)}`
  return search(ask, {
    name: "message",
    label: t.text("messages.text"),
    hint: t.text("deliveries.messageHint"),
    button: t.text("messages.search"),
    more: filterFields(ask, fields)
  })
}

const shown = ({ t }: Ask) => (name: Name, value: string) =>
  name === "status" ? t.named(`delivery.status.${value}`) ?? value : value

/** The filters that a replay has too. */
const replayed: ReadonlySet<Name> = new Set(["status", "event", "response_code", "from_date", "to_date"])

const isRecoverable = Schema.is(Schema.UndefinedOr(RecoverableStatus))

/** Leads to the page that counts what failed or was skipped before it sends that again. */
const replayButton = (ask: AccountAsk, { created_at, id }: Webhook, valid: Given<Name>) => {
  const created = DateTime.formatIso(DateTime.startOf(DateTime.makeUnsafe(created_at), "minute"))
  const { from_date = created, to_date, ...same } = Object.fromEntries(
    valid.map(({ name, value }) => [name, String(value)])
  )
  const isExpressible = valid.length > 0 && valid.every(({ name }) => replayed.has(name))
  if (!isExpressible || !isRecoverable(same["status"])) return false
  const local = (time: string) => localText(ask, DateTime.makeUnsafe(time))
  const asked = {
    ...same,
    since: local(from_date),
    ...(to_date !== undefined && { until: local(to_date) }),
    [zoneName]: ask.timezone
  }
  const href = `${ask.to(webhookPath(id, "/recover"))}?${new URLSearchParams(asked)}`
  return linkButton(href, ask.t.text("deliveries.replay"), { icon: "refresh-cw" })
}

/** The deliveries of a webhook, newest first. */
export const deliveriesPage = Page.account({
  path: "/webhooks/:id/deliveries",
  permission: "webhooks:read",
  read: (ask) =>
    Effect.gen(function*() {
      const webhook = yield* webhookIn(ask)
      const filtered = filtersIn(ask, WebhooksApi.endpoints.deliveries, names)
      const after = positionIn(ask, Schema.Tuple([Schema.Int])) ?? fromNewest
      const { rows } = yield* (yield* Deliveries).list(
        { accountId: ask.accountId, id: webhook.id },
        { ...filtered.filter, sort: "-created_at" },
        { limit: perPage + 1, offset: 0, after }
      )
      return { webhook, filtered, page: pageOf(rows, perPage, ({ id }) => [id]) }
    }),
  draw: ({ filtered, page: { older, rows }, webhook }, given) => {
    const ask = tidied(given, filtered.valid)
    const { path, query, t } = ask
    const isFiltered = filtered.valid.length > 0
    return {
      title: t.text("deliveries.title"),
      crumbs: webhookCrumbs(ask, webhook),
      curl: `/v1/webhooks/${webhook.id}/deliveries${query.size === 0 ? "" : `?${query}`}`,
      buttons: replayButton(ask, webhook, filtered.valid),
      content: html`${searchOf(ask)}
${appliedFilters(ask, filtered, { labels, shown: shown(ask) })}
${
        rows.length > 0
          ? table(t.text("deliveries.caption"), deliveryColumns(ask), rows)
          : emptyState({
            icon: isFiltered ? "search" : "inbox",
            title: t.text("deliveries.empty.title"),
            text: t.text(isFiltered ? "deliveries.empty.filtered" : "deliveries.empty.text"),
            button: isFiltered && linkButton(path, t.text("deliveries.all"))
          })
      }
${pager(ask, cursorsAround(given, older))}`
    }
  }
})

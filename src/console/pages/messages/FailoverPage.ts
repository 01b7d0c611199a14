import { Clock, Effect, Schema } from "effect"
import type { Failover } from "../../../failovers/Failover.ts"
import { Failovers } from "../../../failovers/Failovers.ts"
import { Timelines } from "../../../history/Timelines.ts"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import { html } from "../../../platform/http/html.ts"
import { FailoverId } from "../../../values/Ids.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import { Page } from "../../page/Page.ts"
import { placeOf } from "../../page/placeOf.ts"
import { principalOf } from "../../page/principalOf.ts"
import { badge, card, code, facts, foreign, inDollars, linkButton, moment, momentText, note } from "../../ui/parts.ts"
import { span } from "../../ui/progress.ts"
import { type Column, table } from "../../ui/table.ts"
import { pauseAfter, whatHappened } from "./happened.ts"
import { channelsOf, labelFacts, statusBadge, toneOf } from "./messageParts.ts"

type Step = Failover["steps"][number]

const badgeOf = (ask: Ask, status: Failover["status"] | Step["status"]) =>
  status === "processing" || status === "waiting"
    ? badge(ask.t.text(`failover.${status}`), "busy")
    : statusBadge(ask, status)

const columns = (ask: AccountAsk): ReadonlyArray<Column<Step>> => {
  const { t, to } = ask
  return [
    { label: t.text("messages.status"), cell: ({ status }) => badgeOf(ask, status) },
    {
      label: t.text("messages.channel"),
      cell: ({ channel, href }) => {
        const place = href === null ? undefined : placeOf(href)
        const name = t.text(`channel.${channel}`)
        return place === undefined ? name : html`<a href="${to(place)}">${name}</a>`
      }
    },
    { label: t.text("messages.to"), cell: (step) => foreign(step.to) },
    {
      label: t.text("failover.goal"),
      cell: ({ until, within_seconds }) =>
        t.text("failover.within", { status: t.text(`status.${until}`), span: span(ask, within_seconds * 1000) })
    },
    { label: t.text("message.error"), cell: ({ error }) => error === null ? null : foreign(error) }
  ]
}

/** What became of it, in one sentence. */
const explained = (ask: Ask, { send_at, status }: Failover) => {
  const { t } = ask
  switch (status) {
    case "scheduled":
      return send_at === null ? t.text("why.waits") : t.text("why.scheduled", { when: momentText(ask, send_at) })
    case "queued":
      return t.text("why.waits")
    case "processing":
      return t.text("failover.underWay")
    case "sent":
    case "failed":
      return t.text(`failover.${status}`)
    default:
      return t.text(`why.${status}`)
  }
}

const decodeId = Schema.decodeUnknownEffect(FailoverId)

/** A message with failover: each of its steps, and what happened over all of them. */
export const failoverPage = Page.account({
  path: "/messages/:id",
  permission: "messages:read",
  read: (ask) =>
    Effect.gen(function*() {
      const { accountId } = ask
      const id = yield* Effect.mapError(decodeId(ask.params["id"]), () => new NotFound())
      return {
        found: yield* (yield* Failovers).find(principalOf(ask), id),
        entries: yield* (yield* Timelines).ofFailover({ accountId, id }, new Set(channelsOf(ask, "read"))),
        now: yield* Clock.currentTimeMillis
      }
    }),
  draw: ({ entries, found, now }, ask) => {
    const { t } = ask
    const { completed_at, cost_usd, created_at, id, status, steps, to } = found
    const isOver = completed_at !== null
    return {
      title: t.text("failover.title"),
      isLive: pauseAfter(entries, { isOver, now }),
      crumbs: [{ href: ask.to("/messages"), label: t.text("messages.title") }],
      curl: `/v1/messages/${id}`,
      buttons: !isOver && linkButton(ask.path, t.text("message.refresh"), { icon: "refresh-cw" }),
      content: html`<div class="why">${
        note(explained(ask, found), status === "processing" ? "busy" : toneOf(status))
      }</div>
<h2>${t.text("failover.steps")}</h2>${table(t.text("failover.stepsCaption"), columns(ask), steps)}
<div class="cards two">${card(t.text("message.timeline"), whatHappened(ask, entries), "timeline")}${
        card(
          t.text("message.facts"),
          facts([
            [t.text("messages.status"), badgeOf(ask, status)],
            [t.text("messages.to"), foreign([to.phone ?? [], to.email ?? []].flat().join(", "))],
            [t.text("message.cost"), inDollars(ask, cost_usd)],
            [t.text("messages.when"), moment(ask, created_at)],
            [t.text("message.id"), code(id)],
            ...labelFacts(ask, found)
          ]),
          "facts"
        )
      }</div>`
    }
  }
})

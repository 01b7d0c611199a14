import { DateTime, Effect, Option, Schema } from "effect"
import { FilteredEvent } from "../../../events/EventPattern.ts"
import { Html, html } from "../../../platform/http/html.ts"
import { StatusFilter } from "../../../values/Page.ts"
import type { Webhook } from "../../../webhooks/endpoint/Webhook.ts"
import { Recoveries } from "../../../webhooks/Recoveries.ts"
import { RecoveriesApi } from "../../../webhooks/RecoveriesApi.ts"
import { RecoverableStatus, type Recovery, type RecoveryPreview } from "../../../webhooks/recovery/Recovery.ts"
import { Action, goTo } from "../../page/Action.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import { Field, localText } from "../../page/Field.ts"
import { typedTime, zoneName } from "../../page/filter.ts"
import { Page } from "../../page/Page.ts"
import { buttonForm, form, refusalOf } from "../../ui/form.ts"
import { badge, card, facts, foreign, linkButton, listed, moment, note, number, type Tone } from "../../ui/parts.ts"
import { bar, legend } from "../../ui/progress.ts"
import { type Column, table } from "../../ui/table.ts"
import { eventAndAnswer } from "./deliveryParts.ts"
import { webhookCrumbs, webhookIn, webhookPath } from "./webhookParts.ts"

/** How many recoveries the page shows. */
const shown = 10

const decodeStatus = Schema.decodeUnknownOption(RecoverableStatus)

/** Whether the endpoint accepts the filter of an address. */
const isKnown = Schema.is(
  Schema.Struct({ event: Schema.UndefinedOr(FilteredEvent), response_code: Schema.UndefinedOr(StatusFilter) })
)

/** What the address asks for: by default everything that was missed in the last day. */
const spanOf = (ask: Ask, now: DateTime.Utc) => {
  const yesterday = DateTime.startOf(DateTime.subtract(now, { days: 1 }), "minute")
  const since = typedTime(ask, ask.query.get("since")) ?? yesterday
  const until = typedTime(ask, ask.query.get("until"))
  const status = Option.getOrUndefined(decodeStatus(ask.query.get("status")))
  const given = (name: string) => ask.query.get(name) || undefined
  return { since, until, status, event: given("event"), response_code: given("response_code") }
}

type Span = ReturnType<typeof spanOf>

const wireOf = ({ event, response_code, since, status, until }: Span) => ({
  since: DateTime.formatIso(since),
  ...(until !== undefined && { until: DateTime.formatIso(until) }),
  ...(status !== undefined && { status: [status] }),
  ...(event !== undefined && { event }),
  ...(response_code !== undefined && { response_code })
})

/** Which deliveries a replay sends again: how they ended, and its filter. */
const inWords = (ask: Ask, { event, response_code, ...asked }: Span | Recovery) => {
  const { t } = ask
  const [status, second] = "statuses" in asked ? asked.statuses : [asked.status]
  return foreign(listed(ask, [
    t.text(`recover.status.${second === undefined && status || "both"}`),
    ...(event ? [`${t.text("deliveries.event")}: ${event}`] : []),
    ...(response_code ? [`${t.text("deliveries.code")}: ${response_code}`] : [])
  ]))
}

const start = Action.make({
  name: "start",
  endpoint: RecoveriesApi.endpoints.start,
  fields: {
    since: Field.hidden(),
    until: Field.hidden(),
    status: Field.hidden(),
    event: Field.hidden(),
    response_code: Field.hidden()
  },
  request: ({ event, response_code, since, status, until }, { params }) => ({
    params: { id: params["id"] },
    payload: {
      since,
      ...(until !== "" && { until }),
      ...(status !== "" && { status: [status] }),
      ...(event !== "" && { event }),
      ...(response_code !== "" && { response_code })
    }
  }),
  after: (_, { ask }) => goTo(ask.path, "recover.started")
})

const stop = Action.make({
  name: "stop",
  endpoint: RecoveriesApi.endpoints.cancel,
  fields: { recovery_id: Field.hidden() },
  request: ({ recovery_id }, { params }) => ({ params: { id: params["id"], recovery_id } }),
  after: (_, { ask }) => goTo(ask.path, "recover.stopped")
})

const timeField = ({ t }: Ask, name: "since" | "until", value: string) =>
  html`<div class="field"><label for="f-${name}">${t.text(`recover.${name}`)}${
    name === "until" && html` <span class="optional">(${t.text("common.optional")})</span>`
  }</label><input type="datetime-local" id="f-${name}" name="${name}" value="${value}" step="any"></div>`

/** The question: which time, how the deliveries ended, and a filter. */
const question = (ask: AccountAsk, { since, status, until }: Span) => {
  const { t } = ask
  return html`<form method="get" action="${ask.path}" class="filter"><div class="fields">${
    timeField(ask, "since", localText(ask, since))
  }${
    timeField(ask, "until", until === undefined ? "" : localText(ask, until))
  }<div class="field"><label for="f-status">${t.text("recover.status")}</label><select id="f-status" name="status">${
    ([undefined, ...RecoverableStatus.literals] as const).map((one) =>
      html`<option value="${one ?? ""}"${one === status && new Html(" selected")}>${
        t.text(`recover.status.${one ?? "both"}`)
      }</option>`
    )
  }</select></div>${
    eventAndAnswer(ask)
  }</div><input type="hidden" name="${zoneName}" value="${ask.timezone}"><div class="buttons"><button>${
    t.text("recover.count")
  }</button></div></form>`
}

interface Counted {
  readonly webhook: Webhook
  readonly span: Span
  readonly counted: RecoveryPreview
}

const previewOf = (ask: AccountAsk, { counted, span, webhook }: Counted) => {
  const { can, t } = ask
  const { event = "", response_code = "", since, until = "" } = wireOf(span)
  const isFiltered = event !== "" || response_code !== ""
  if (counted.total === 0) return note(t.text(isFiltered ? "deliveries.empty.filtered" : "recover.nothing"), "good")
  return html`${
    facts([
      [
        t.text("recover.events"),
        counted.is_total_exact
          ? number(ask, counted.total)
          : t.text("recover.atLeast", { count: number(ask, counted.total) })
      ],
      [t.text("recover.status"), inWords(ask, span)],
      [t.text("recover.order"), t.text("recover.order.event")],
      [
        t.text("recover.pace"),
        counted.per_second === null
          ? t.text("recover.paceUnknown")
          : t.text("recover.perSecond", { count: number(ask, counted.per_second) })
      ],
      [
        t.text("recover.end"),
        counted.estimated_end_at === null ? t.text("recover.endUnknown") : moment(ask, counted.estimated_end_at)
      ]
    ])
  }${
    webhook.status !== "active"
      ? note(t.text("recover.notActive"), "warn")
      : can("webhooks:write") &&
        form(ask, start, {
          submit: t.text("recover.start", { count: counted.total }),
          values: { since, until, status: span.status ?? "", event, response_code }
        })
  }`
}

const tones: Readonly<Record<Recovery["status"], Tone>> = { running: "busy", completed: "good", canceled: "quiet" }

const statusBadge = ({ t }: Ask, { status }: Recovery) => badge(t.text(`recover.is.${status}`), tones[status])

/** A recovery that runs. Scripts load it again until it has ended. */
const progress = (ask: AccountAsk, recovery: Recovery) => {
  const { can, t } = ask
  const { delivered, failed, total } = recovery
  const shares = [
    { label: t.text("recover.delivered"), count: delivered, tone: "good" as const },
    { label: t.text("recover.failed"), count: failed, tone: "bad" as const },
    { label: t.text("recover.left"), count: Math.max(0, total - delivered - failed), tone: "busy" as const }
  ]
  return html`${facts([[t.text("recover.status"), inWords(ask, recovery)]])}${bar(ask, shares)}${
    legend(ask, shares)
  }<div class="buttons">${linkButton(ask.path, t.text("message.refresh"), { icon: "refresh-cw" })}${
    can("webhooks:write") &&
    buttonForm(ask, stop, {
      label: t.text("recover.stop"),
      tone: "danger",
      values: { recovery_id: String(recovery.id) }
    })
  }</div>`
}

const columns = (ask: AccountAsk): ReadonlyArray<Column<Recovery>> => {
  const { t } = ask
  return [
    { label: t.text("recover.created"), cell: ({ created_at }) => moment(ask, created_at) },
    { label: t.text("recover.since"), cell: ({ since }) => moment(ask, since) },
    { label: t.text("recover.until"), cell: ({ until }) => moment(ask, until) },
    { label: t.text("recover.status"), cell: (recovery) => inWords(ask, recovery) },
    { label: t.text("recover.state"), cell: (recovery) => statusBadge(ask, recovery) },
    { label: t.text("recover.delivered"), kind: "number", cell: ({ delivered }) => number(ask, delivered) },
    { label: t.text("recover.failed"), kind: "number", cell: ({ failed }) => number(ask, failed) }
  ]
}

/** What a webhook missed: the exact count before anything is sent, then the progress. */
export const recoverPage = Page.account({
  path: "/webhooks/:id/recover",
  permission: "webhooks:read",
  read: (ask) =>
    Effect.gen(function*() {
      const webhook = yield* webhookIn(ask)
      const which = { accountId: ask.accountId, id: webhook.id }
      const recoveries = yield* Recoveries
      const span = spanOf(ask, yield* DateTime.now)
      const { rows } = yield* recoveries.list(which, { limit: shown, offset: 0, after: null })
      const running = rows.find(({ status }) => status === "running")
      const counted = running === undefined && isKnown(span)
        ? yield* Effect.option(recoveries.preview(which, wireOf(span)))
        : Option.none()
      return { webhook, span, rows, running, counted: Option.getOrUndefined(counted) }
    }),
  draw: ({ counted, rows, running, span, webhook }, ask) => {
    const { t } = ask
    const ended = rows.filter((row) => row !== running)
    const asked = new URLSearchParams(
      Object.entries(wireOf(span)).map(([name, value]): [string, string] => [name, String(value)])
    )
    return {
      title: t.text("recover.title"),
      isLive: running !== undefined,
      lead: t.text("recover.lead"),
      crumbs: webhookCrumbs(ask, webhook),
      curl: `/v1${webhookPath(webhook.id, "/recover")}?${asked}`,
      content: html`<div class="stack">${refusalOf(ask)}${
        running === undefined
          ? card(
            t.text("recover.choose"),
            html`<div class="stack">${question(ask, span)}${
              counted === undefined
                ? note(t.text(isKnown(span) ? "recover.wrong" : "recover.unknown"), "bad")
                : previewOf(ask, { webhook, span, counted })
            }</div>`,
            "choose"
          )
          : card(t.text("recover.running"), progress(ask, running), "running")
      }${
        ended.length > 0 &&
        html`<h2>${t.text("recover.past")}</h2>${table(t.text("recover.pastCaption"), columns(ask), ended)}`
      }</div>`
    }
  },
  actions: [start, stop]
})

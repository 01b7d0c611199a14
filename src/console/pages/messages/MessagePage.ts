import { Clock, Effect, Stream } from "effect"
import { Emails } from "../../../channels/email/single/Emails.ts"
import { SuppressionsApi } from "../../../channels/email/suppressions/SuppressionsApi.ts"
import type { TimelineEntry } from "../../../history/Timeline.ts"
import { Timelines } from "../../../history/Timelines.ts"
import { explain, type Explanation } from "../../../messages/Explanation.ts"
import { html } from "../../../platform/http/html.ts"
import { EmailMessageId, MessageId } from "../../../values/Ids.ts"
import { Action, goTo } from "../../page/Action.ts"
import { type AccountAsk, type Ask, withQuery } from "../../page/Ask.ts"
import { Field } from "../../page/Field.ts"
import { idIn, Page } from "../../page/Page.ts"
import { buttonForm, refusalOf } from "../../ui/form.ts"
import { frameOf } from "../../ui/mail.ts"
import { card, code, facts, foreign, icon, linkButton, moment } from "../../ui/parts.ts"
import { received } from "../../ui/received.ts"
import { table } from "../../ui/table.ts"
import { explained, surroundingsOf, type Told } from "./explanation.ts"
import { addressOf, fixOf, sendAgain, unsuppress, unsuppressButton } from "./fixes.ts"
import { pauseAfter, whatHappened } from "./happened.ts"
import {
  besideOf,
  channelIn,
  channelPermissions,
  labelFacts,
  recipientColumns,
  recipientsText,
  statusBadge
} from "./messageParts.ts"
import { type Fact, type Read, readMessage, type Shown, shownOf, withoutTexts } from "./shownMessage.ts"

const back = ({ path }: AccountAsk, done: Parameters<typeof goTo>[1]) => goTo(path, done)

const suppress = Action.make({
  name: "suppress",
  endpoint: SuppressionsApi.endpoints.add,
  fields: { email: Field.hidden() },
  request: ({ email }) => ({ payload: { email } }),
  after: (_, { ask }) => back(ask, "message.suppressed")
})

/**
 * A message that waits for its next attempt has the answer to its last one. While a carrier takes none, later waits are not in
 * the timeline: then the time has passed, and is not shown.
 */
const withWait = (told: Told, entries: ReadonlyArray<TimelineEntry>, now: number): Told => {
  const last = told.status === "queued"
    ? entries.findLast(({ kind }) => kind !== "event" && kind !== "delivery")
    : undefined
  if (last?.kind !== "deferred") return told
  const tried = entries.findLast((entry) => entry.kind === "attempt")
  const reply = tried?.kind === "attempt" ? tried.detail.reply : null
  const { next_at } = last.detail
  return { ...told, error: told.error ?? reply, next_at: Date.parse(next_at) > now ? next_at : null }
}

/** Statuses that change by themselves soon. */
const passing: ReadonlySet<string> = new Set(["scheduled", "queued", "sent"])

const waiting: ReadonlySet<string> = new Set(["scheduled", "queued"])

/** The buttons that the record allows, but for the one beside the explanation. */
const buttonsOf = (ask: AccountAsk, shown: Shown, { fix }: Explanation) => {
  const { can, t } = ask
  const { channel, id, told } = shown
  const address = addressOf(shown)
  return html`${passing.has(told.status) && linkButton(ask.path, t.text("message.refresh"), { icon: "refresh-cw" })}${
    told.status !== "received" && fix !== "again" && sendAgain(ask, channel)
  }${linkButton(withQuery(ask, { format: "json" }), t.text("message.json"), { icon: "download" })}${
    shown.hasSource && can("emails:read") &&
    linkButton(ask.to(`/messages/email/${id}/source`), t.text("message.source"), { icon: "file-text" })
  }${
    waiting.has(told.status) && can(channelPermissions[channel].write) &&
    html`${
      told.status === "scheduled" &&
      linkButton(ask.to(`/messages/${channel}/${id}/reschedule`), t.text("message.reschedule"), {
        icon: "clock",
        opensDialog: true
      })
    }${
      linkButton(ask.to(`/messages/${channel}/${id}/cancel`), t.text("message.cancel"), {
        tone: "danger",
        opensDialog: true
      })
    }`
  }${
    address !== undefined && can("emails:write") && told.suppression === undefined &&
    buttonForm(ask, suppress, {
      label: html`${icon("ban")}<span>${t.text("message.suppress", { address })}</span>`,
      values: { email: address }
    })
  }${fix !== "unsuppress" && unsuppressButton(ask, shown)}`
}

/** The request that has made the message. */
const requestIn = (entries: ReadonlyArray<TimelineEntry>) =>
  entries.flatMap(({ detail, kind }) => kind === "accepted" ? detail.request_id ?? [] : [])[0]

const factsOf = (
  ask: AccountAsk,
  { channel, facts: own, id, labels, to, told }: Shown,
  request: string | undefined
): ReadonlyArray<Fact> => {
  const { t } = ask
  const { batch_id, failover_id } = labels
  return [
    [t.text("messages.status"), statusBadge(ask, told.status)],
    [t.text("messages.to"), foreign([to].flat().join(", "))],
    ...own,
    [t.text("messages.when"), moment(ask, told.created_at)],
    [t.text("message.id"), code(String(id))],
    ...(request === undefined ? [] : [
      [t.text("requests.request"), html`<a href="${ask.to(`/requests/${request}`)}">${code(request)}</a>`] as const
    ]),
    ...(batch_id === null ? [] : [
      [
        t.text("messages.batch"),
        html`<a href="${ask.to(`/batches/${channel}/${batch_id}`)}">${code(batch_id)}</a>`
      ] as const
    ]),
    ...(failover_id === null ? [] : [
      [
        t.text("failover.title"),
        html`<a href="${ask.to(`/messages/${failover_id}`)}">${code(failover_id)}</a>`
      ] as const
    ]),
    ...labelFacts(ask, labels)
  ]
}

const titleOf = (ask: Ask, { channel, to, told }: Shown) => {
  const { t } = ask
  const named = t.text(`channel.${channel}`)
  if (told.status !== "received") return t.text("message.title", { channel: named, to: recipientsText(ask, to) })
  return told.from === null
    ? t.text("message.titleHidden", { channel: named })
    : t.text("message.titleFrom", { channel: named, from: told.from })
}

/** The answer of the endpoint, to save. */
const fileOf = (read: Read) => ({
  name: `${read.channel}-${"email" in read ? read.email.id : read.message.id}.json`,
  type: "application/json" as const,
  lines: Stream.succeed(`${JSON.stringify({ data: "email" in read ? read.email : read.message }, null, 2)}\n`)
})

/** The HTML of an email, for the locked frame of its page. */
const frame = Page.account({
  path: "/messages/email/:id/frame",
  permission: "emails:read",
  read: (ask) =>
    Effect.gen(function*() {
      return yield* (yield* Emails).content(ask.accountId, yield* idIn(ask, EmailMessageId))
    }),
  draw: ({ html: markup, subject }) => ({ title: subject, content: html``, frame: frameOf(markup ?? "") })
})

/** One message: what became of it and why, then what happened, then its facts. */
const one = Page.account({
  path: "/messages/:channel/:id",
  permission: "messages:read",
  read: (ask) =>
    Effect.gen(function*() {
      const channel = yield* channelIn(ask)
      const { accountId } = ask
      const timelines = yield* Timelines
      const { entries, read } = yield* Effect.all({
        read: readMessage(ask, channel),
        entries: timelines.read({ accountId, channel, id: yield* idIn(ask, MessageId) })
      }, { concurrency: 2 })
      const record = shownOf(ask, read)
      const now = yield* Clock.currentTimeMillis
      const shown: Shown = { ...record, told: withWait(record.told, entries, now) }
      return {
        read,
        shown,
        entries,
        now,
        beside: ask.mode === "test"
          ? yield* besideOf(accountId, channel, "email" in read ? read.email : read.message)
          : [],
        around: yield* surroundingsOf(ask, shown.told, "email" in read ? null : read.message.session_id)
      }
    }),
  draw: ({ around, beside, entries, now, read, shown }, ask) => {
    const { t } = ask
    const { channel, content, id, recipients, told } = shown
    const explanation = explain(told, around.hold)
    return {
      title: titleOf(ask, shown),
      since: shown.hasSource ? undefined : withoutTexts,
      isLive: pauseAfter(entries, { isOver: !passing.has(told.status), now }),
      ...(ask.query.get("format") === "json" && { file: fileOf(read) }),
      crumbs: [{ href: ask.to("/messages"), label: t.text("messages.title") }],
      curl: `/v1/${channel}/messages/${id}`,
      buttons: buttonsOf(ask, shown, explanation),
      content: html`${refusalOf(ask)}${
        explained(ask, explanation, { told, around, fix: fixOf(ask, explanation, { subject: shown, around }) })
      }
<div class="cards two">${
        card(
          t.text("message.timeline"),
          whatHappened(ask, entries, recipients.length > 0),
          "timeline"
        )
      }<div class="cards">${card(t.text("message.content"), content, "content")}${
        ask.mode === "test" && told.status !== "received" && card(
          t.text("sandbox.beside", { to: recipientsText(ask, shown.to) }),
          received(ask, beside),
          "beside"
        )
      }${card(t.text("message.facts"), facts(factsOf(ask, shown, requestIn(entries))), "facts")}</div></div>
${
        recipients.length > 0 &&
        html`<h2>${t.text("message.recipients")}</h2>${
          table(t.text("message.recipientsCaption"), recipientColumns(ask), recipients)
        }`
      }`
    }
  },
  actions: [suppress, unsuppress]
})

export const messagePages = [one, frame] as const

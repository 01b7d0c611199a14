import { Effect, Option, Stream } from "effect"
import { failureOf } from "../../../channels/email/recipients/RecipientState.ts"
import type { EmailRecipient } from "../../../channels/email/single/Email.ts"
import { Emails } from "../../../channels/email/single/Emails.ts"
import { Suppressions } from "../../../channels/email/suppressions/Suppressions.ts"
import { SuppressionsApi } from "../../../channels/email/suppressions/SuppressionsApi.ts"
import { isGroup } from "../../../channels/whatsapp/content/MessageContent.ts"
import type { TimelineEntry } from "../../../history/Timeline.ts"
import { Timelines } from "../../../history/Timelines.ts"
import { explain, type Explanation } from "../../../messages/Explanation.ts"
import type { Message } from "../../../messages/Message.ts"
import { Messages } from "../../../messages/Messages.ts"
import { html, type HtmlValue } from "../../../platform/http/html.ts"
import { EmailMessageId, MessageId } from "../../../values/Ids.ts"
import { Action, goTo } from "../../page/Action.ts"
import { type AccountAsk, type Ask, withQuery } from "../../page/Ask.ts"
import { Field } from "../../page/Field.ts"
import { idIn, Page } from "../../page/Page.ts"
import { buttonForm, refusalOf } from "../../ui/form.ts"
import { card, code, facts, foreign, icon, inDollars, linkButton, moment } from "../../ui/parts.ts"
import { timeline } from "../../ui/progress.ts"
import { received } from "../../ui/received.ts"
import { table } from "../../ui/table.ts"
import { explained, surroundingsOf, type Told } from "./explanation.ts"
import { addressOf, fixOf, sendAgain, type Subject, unsuppress, unsuppressButton } from "./fixes.ts"
import { happenings } from "./happened.ts"
import {
  besideOf,
  channelIn,
  channelPermissions,
  labelFacts,
  listLink,
  recipientColumns,
  recipientsText,
  statusBadge
} from "./messageParts.ts"

type Fact = readonly [term: string, value: HtmlValue]

/** A message of any channel, as the page shows it. */
interface Shown extends Subject {
  readonly id: number
  readonly facts: ReadonlyArray<Fact>
  readonly labels: Pick<Message, "tags" | "metadata"> & { readonly batch_id: string | null }
  readonly recipients: ReadonlyArray<EmailRecipient>
  /** The text; null once it is gone, undefined where the record has none. */
  readonly body?: string | null
}

const readEmail = Effect.fnUntraced(function*(ask: AccountAsk) {
  const email = yield* (yield* Emails).find(ask.accountId, yield* idIn(ask, EmailMessageId))
  const address = addressOf({ channel: "email", to: email.to })
  const suppression = address === undefined
    ? undefined
    : yield* Effect.option((yield* Suppressions).find(ask.accountId, address))
  return { channel: "email" as const, email, suppression: suppression && Option.getOrUndefined(suppression) }
})

type ReadEmail = Effect.Success<ReturnType<typeof readEmail>>

type Read = ReadEmail | { readonly channel: Message["channel"]; readonly message: Message }

const toldOf = ({ email, suppression }: ReadEmail): Told => {
  // Of several recipients one may have bounced, and another failed.
  const of = email.recipients.find(({ status }) => status === email.status) ?? email
  return {
    ...email,
    channel: "email",
    error: of.error,
    errorCode: email.status === "failed" ? failureOf(of.error ?? "") : null,
    bounceType: of.bounce_type,
    next_at: null,
    suppression
  }
}

const emailShown = (ask: Ask, read: ReadEmail): Shown => {
  const { t } = ask
  const { email } = read
  return {
    channel: "email",
    id: email.id,
    to: email.to,
    told: toldOf(read),
    facts: [
      [t.text("message.subject"), foreign(email.subject)],
      [t.text("message.from"), foreign(email.from)],
      ...(email.template_id === null ? [] : [[t.text("message.template"), code(email.template_id)] as const])
    ],
    labels: email,
    recipients: email.recipients.length > 1 ? email.recipients : []
  }
}

/** The conversation that a WhatsApp message belongs to. */
const chatLink = ({ to: at }: AccountAsk, { channel, direction, from, session_id, to }: Message) => {
  const chat = direction === "in" && !isGroup(to) ? from : to
  return channel === "whatsapp" && session_id !== null && chat !== null
    ? html`<a href="${at(`/whatsapp/${session_id}/chats/${encodeURIComponent(chat)}`)}">${code(chat)}</a>`
    : null
}

const textShown = (ask: AccountAsk, message: Message): Shown => {
  const { t } = ask
  const { channel, cost_usd, error_code, error_message, from, segments, session_id, status, type } = message
  const optional: ReadonlyArray<readonly [string, HtmlValue]> = [
    [t.text("message.from"), from === null ? null : foreign(from)],
    [t.text("message.session"), session_id],
    [t.text("chat.open"), chatLink(ask, message)],
    [t.text("message.type"), channel === "whatsapp" && type !== null ? code(type) : null],
    [t.text("message.segments"), segments],
    [t.text("message.cost"), cost_usd === null ? null : inDollars(ask, cost_usd)],
    [
      t.text("message.code"),
      error_code === null
        ? null
        : status === "failed"
        ? listLink(ask, { error_code }, code(error_code))
        : code(error_code)
    ]
  ]
  return {
    channel,
    id: message.id,
    to: message.to,
    told: {
      ...message,
      opens: 0,
      clicks: 0,
      bounceType: null,
      errorCode: error_code,
      error: error_message,
      suppression: undefined,
      next_at: null
    },
    facts: optional.filter(([, value]) => value !== null),
    labels: message,
    recipients: [],
    body: message.content === null ? null : message.content.body
  }
}

const back = ({ path }: AccountAsk, done: Parameters<typeof goTo>[1]) => goTo(path, done)

const suppress = Action.make({
  name: "suppress",
  endpoint: SuppressionsApi.endpoints.add,
  fields: { email: Field.hidden() },
  request: ({ email }) => ({ payload: { email } }),
  after: (_, { ask }) => back(ask, "message.suppressed")
})

/** A message that waits for its next attempt has the answer to its last one. */
const withWait = (told: Told, entries: ReadonlyArray<TimelineEntry>): Told => {
  const last = told.status === "queued"
    ? entries.findLast(({ kind }) => kind !== "event" && kind !== "delivery")
    : undefined
  if (last?.kind !== "deferred") return told
  const tried = entries.findLast((entry) => entry.kind === "attempt")
  const reply = tried?.kind === "attempt" ? tried.detail.reply : null
  return { ...told, error: told.error ?? reply, next_at: last.detail.next_at }
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
  const { batch_id } = labels
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
    ...labelFacts(ask, labels)
  ]
}

const titleOf = (ask: Ask, { channel, to, told }: Shown) => {
  const { t } = ask
  const named = t.text(`channel.${channel}`)
  return told.status === "received"
    ? t.text("message.titleFrom", { channel: named, from: told.from ?? "" })
    : t.text("message.title", { channel: named, to: recipientsText(ask, to) })
}

/** The answer of the endpoint, to save. */
const fileOf = (read: Read) => ({
  name: `${read.channel}-${"email" in read ? read.email.id : read.message.id}.json`,
  type: "application/json" as const,
  lines: Stream.succeed(`${JSON.stringify({ data: "email" in read ? read.email : read.message }, null, 2)}\n`)
})

/** One message: what became of it and why, then what happened, then its facts. */
export const messagePage = Page.account({
  path: "/messages/:channel/:id",
  permission: "messages:read",
  read: (ask) =>
    Effect.gen(function*() {
      const channel = yield* channelIn(ask)
      const { accountId } = ask
      const read = channel === "email" ? yield* readEmail(ask) : {
        channel,
        message: yield* (yield* Messages).find({ accountId, channel }, yield* idIn(ask, MessageId))
      }
      const record = "email" in read ? emailShown(ask, read) : textShown(ask, read.message)
      const entries = yield* (yield* Timelines).read({ accountId, channel, id: record.id })
      const shown: Shown = { ...record, told: withWait(record.told, entries) }
      return {
        read,
        shown,
        entries,
        beside: ask.mode === "test"
          ? yield* besideOf(accountId, channel, "email" in read ? read.email : read.message)
          : [],
        around: yield* surroundingsOf(ask, shown.told, "email" in read ? null : read.message.session_id)
      }
    }),
  draw: ({ around, beside, entries, read, shown }, ask) => {
    const { t } = ask
    const { body, channel, id, recipients, told } = shown
    const explanation = explain(told, around.hold)
    return {
      title: titleOf(ask, shown),
      isLive: passing.has(told.status),
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
          timeline(ask, happenings(ask, entries, recipients.length > 0)),
          "timeline"
        )
      }<div class="cards">${
        body !== undefined && card(
          t.text("message.content"),
          body === null
            ? html`<p class="quiet">${t.text("message.gone")}</p>`
            : html`<p class="words">${foreign(body)}</p>`,
          "content"
        )
      }${
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

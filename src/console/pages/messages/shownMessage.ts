/** A message of any channel, as its page shows it. */
import { Effect, Option } from "effect"
import { failureOf } from "../../../channels/email/recipients/RecipientState.ts"
import type { EmailContent, EmailRecipient } from "../../../channels/email/single/Email.ts"
import { Emails } from "../../../channels/email/single/Emails.ts"
import { Suppressions } from "../../../channels/email/suppressions/Suppressions.ts"
import { isGroup } from "../../../channels/whatsapp/content/MessageContent.ts"
import type { Message } from "../../../messages/Message.ts"
import { Messages } from "../../../messages/Messages.ts"
import type { SummaryChannel } from "../../../messages/MessageSummary.ts"
import { html, type HtmlValue } from "../../../platform/http/html.ts"
import { EmailMessageId, MessageId } from "../../../values/Ids.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import { idIn } from "../../page/Page.ts"
import { mailOf } from "../../ui/mail.ts"
import { code, foreign, icon, inDollars } from "../../ui/parts.ts"
import type { Told } from "./explanation.ts"
import { fileLine, filesKept } from "./FilePage.ts"
import { addressOf, type Subject } from "./fixes.ts"
import { listLink } from "./messageParts.ts"

export type Fact = readonly [term: string, value: HtmlValue]

export interface Shown extends Subject {
  readonly id: number
  readonly facts: ReadonlyArray<Fact>
  readonly labels: Pick<Message, "tags" | "metadata"> & {
    readonly batch_id: string | null
    readonly failover_id: string | null
  }
  readonly recipients: ReadonlyArray<EmailRecipient>
  readonly content: HtmlValue
  /** It is an email whose texts are kept, as far as the page knows. */
  readonly hasSource: boolean
}

/** What an open page without the texts of its email has, so that its updates know it. */
export const withoutTexts = "without-texts"

const readEmail = Effect.fnUntraced(function*(ask: AccountAsk) {
  const emails = yield* Emails
  const id = yield* idIn(ask, EmailMessageId)
  // A page that is open has the mail, which never changes.
  const { content, email } = ask.isUpdate
    ? { content: undefined, email: yield* emails.find(ask.accountId, id) }
    : yield* emails.read(ask.accountId, id)
  const address = addressOf({ channel: "email", to: email.to })
  const suppression = address === undefined
    ? undefined
    : yield* Effect.option((yield* Suppressions).find(ask.accountId, address))
  return { channel: "email" as const, content, email, suppression: suppression && Option.getOrUndefined(suppression) }
})

type ReadEmail = Effect.Success<ReturnType<typeof readEmail>>

/** The record of a message, with what else the page needs of an email. */
export const readMessage = Effect.fnUntraced(function*(ask: AccountAsk, channel: SummaryChannel) {
  const { accountId } = ask
  if (channel === "email") return yield* readEmail(ask)
  const message = yield* (yield* Messages).find({ accountId, channel }, yield* idIn(ask, MessageId))
  return { channel, message, kept: yield* filesKept(ask, [message]) }
})

export type Read = Effect.Success<ReturnType<typeof readMessage>>

const toldOf = ({ email, suppression }: ReadEmail): Told => {
  // Of several recipients one may have bounced, and another failed.
  const alike = email.recipients.filter(({ status }) => status === email.status)
  const of = alike.find(({ error }) => error !== null) ?? alike[0] ?? email
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

/** The mail as its reader sees it, for as long as it is kept. */
const mailShown = (ask: Ask, content: EmailContent) => {
  const { attachments, html: markup, subject, text } = content
  return html`${
    (markup ?? text) === null
      ? html`<p class="subject">${foreign(subject)}</p><p class="quiet">${ask.t.text("message.mailGone")}</p>`
      : mailOf(ask, content, `${ask.path}/frame`)
  }${
    attachments.length > 0 &&
    html`<ul>${attachments.map(({ filename }) => html`<li>${icon("file-text")} ${foreign(filename ?? "")}</li>`)}</ul>`
  }`
}

const emailShown = (ask: Ask, read: ReadEmail): Shown => {
  const { t } = ask
  const { content, email } = read
  return {
    channel: "email",
    id: email.id,
    to: email.to,
    told: toldOf(read),
    facts: [
      [t.text("message.from"), foreign(email.from)],
      ...(email.internet_message_id === null
        ? []
        : [[t.text("message.messageId"), code(email.internet_message_id)] as const]),
      ...(email.template_id === null ? [] : [[t.text("message.template"), code(email.template_id)] as const])
    ],
    labels: email,
    recipients: email.recipients.length > 1 ? email.recipients : [],
    hasSource: content === undefined ? ask.since !== withoutTexts : (content.html ?? content.text) !== null,
    content: html`<div id="mail" data-kept hx-morph-skip>${content !== undefined && mailShown(ask, content)}</div>`
  }
}

/** The conversation that a WhatsApp message belongs to. */
const chatLink = ({ to: at }: AccountAsk, { channel, direction, from, session_id, to }: Message) => {
  const chat = direction === "in" && !isGroup(to) ? from : to
  return channel === "whatsapp" && session_id !== null && chat !== null
    ? html`<a href="${at(`/whatsapp/${session_id}/chats/${encodeURIComponent(chat)}`)}">${code(chat)}</a>`
    : null
}

const textShown = (ask: AccountAsk, { kept, message }: Exclude<Read, ReadEmail>): Shown => {
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
    hasSource: false,
    content: html`${fileLine(ask, message, kept)}${
      message.content === null
        ? html`<p class="quiet">${t.text("message.gone")}</p>`
        : html`<p class="words">${foreign(message.content.body)}</p>`
    }`
  }
}

export const shownOf = (ask: AccountAsk, read: Read): Shown =>
  "email" in read ? emailShown(ask, read) : textShown(ask, read)

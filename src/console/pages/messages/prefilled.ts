/** What a form has before a person types: the message that is sent again, or what a link names. */
import { Effect, Option, Schema } from "effect"
import type { EmailContent } from "../../../channels/email/single/Email.ts"
import { Emails } from "../../../channels/email/single/Emails.ts"
import { isMediaType, MessageType } from "../../../channels/whatsapp/content/MessageContent.ts"
import { GroupId } from "../../../channels/whatsapp/directory/Group.ts"
import { Groups } from "../../../channels/whatsapp/directory/Groups.ts"
import { EmailDomains } from "../../../email-domains/EmailDomains.ts"
import type { Message } from "../../../messages/Message.ts"
import { Messages } from "../../../messages/Messages.ts"
import type { SummaryChannel } from "../../../messages/MessageSummary.ts"
import { EmailMessageId, MessageId, pathId } from "../../../values/Ids.ts"
import type { AccountAsk } from "../../page/Ask.ts"

interface Prefilled {
  readonly values: Readonly<Record<string, string>>
  /** Content of WhatsApp other than a text. A person does not edit it. */
  readonly isFixed?: boolean
  /** The template of a mail whose texts are gone. */
  readonly template?: string
  /** The message exists, and a part of its content does not. */
  readonly isGone?: boolean
}

const mailbox = ({ address, name }: EmailContent["from"]) =>
  name === undefined ? address : `"${name.replaceAll(/["\\]/g, "\\$&")}" <${address}>`

const metadataOf = ({ metadata }: Pick<Message, "metadata">) =>
  Object.keys(metadata).length === 0 ? "" : JSON.stringify(metadata)

/** The sender that the request named. The service's own sender is left out: no request may name it. */
const senderOf = Effect.fnUntraced(function*({ accountId }: AccountAsk, { from }: EmailContent) {
  const isOwn = yield* Effect.isSuccess((yield* EmailDomains).requireVerified(accountId, from.address))
  return isOwn ? mailbox(from) : ""
})

const emailAgain = Effect.fnUntraced(function*(ask: AccountAsk, text: string) {
  const id = Schema.decodeOption(pathId(EmailMessageId))(text)
  if (Option.isNone(id)) return undefined
  const found = Option.getOrUndefined(yield* Effect.option((yield* Emails).read(ask.accountId, id.value)))
  if (found === undefined) return undefined
  const { content, email } = found
  const { recipients, tags, template_id } = email
  const { attachments, html, reply_to, subject, text: plain } = content
  const named = (kind: string) => recipients.filter((one) => one.kind === kind).map(({ to }) => to).join(", ")
  const isErased = (html ?? plain) === null
  const prefilled: Prefilled = {
    ...(isErased && template_id !== null && { template: template_id }),
    values: {
      to: named("to"),
      cc: named("cc"),
      bcc: named("bcc"),
      from: yield* senderOf(ask, content),
      reply_to: reply_to === null ? "" : mailbox(reply_to),
      subject,
      text: plain ?? "",
      html: html ?? "",
      tags: tags.join(" "),
      metadata: metadataOf(email)
    },
    isGone: attachments.length > 0 || isErased
  }
  return prefilled
})

/** The content as a request has it. `body` is in records alone, and a file without a URL is not kept. */
const fixedContent = ({ content, type }: Message) => {
  if (content === null || type === "text" || !Schema.is(MessageType)(type)) return undefined
  const { body: _, ...own } = content
  return isMediaType(type) && own["url"] === undefined ? undefined : own
}

const textAgain = Effect.fnUntraced(function*(
  { accountId }: AccountAsk,
  channel: Exclude<SummaryChannel, "email">,
  text: string
) {
  const id = Schema.decodeOption(pathId(MessageId))(text)
  if (Option.isNone(id)) return undefined
  const found = yield* Effect.option((yield* Messages).find({ accountId, channel }, id.value))
  return Option.getOrUndefined(Option.map(found, (message): Prefilled => {
    const { content, from, session_id, tags, to, type } = message
    const values = {
      to,
      tags: tags.join(" "),
      metadata: metadataOf(message),
      ...(channel === "sms" && from !== null && { sender_id: from }),
      ...(session_id !== null && { session_id: String(session_id) })
    }
    const fixed = channel === "whatsapp" ? fixedContent(message) : undefined
    if (fixed !== undefined) return { values: { ...values, type, content: JSON.stringify(fixed) }, isFixed: true }
    const isWhole = content !== null && (channel === "sms" || type === "text")
    return { values: { ...values, content: content?.body ?? "" }, isGone: !isWhole }
  }))
})

/** The fields of a message that is sent again; undefined if there is no such message. */
export const prefilledAgain = (ask: AccountAsk, channel: SummaryChannel, id: string) =>
  channel === "email" ? emailAgain(ask, id) : textAgain(ask, channel, id)

/** The fields that a link names. */
export const prefilledIn = ({ query }: AccountAsk): Prefilled => ({
  values: Object.fromEntries([...query].filter(([name]) => name === "to" || name === "session_id"))
})

/** The group that a link names, instead of a number. */
export const groupIn = Effect.fnUntraced(function*({ accountId, can, query }: AccountAsk) {
  const id = Schema.decodeUnknownOption(pathId(GroupId))(query.get("group_id"))
  if (Option.isNone(id) || !can("groups:read")) return undefined
  return Option.getOrUndefined(yield* Effect.option((yield* Groups).find({ accountId, id: id.value })))
})

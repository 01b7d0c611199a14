/** The forms that send one message. */
import { DateTime, Option, Schema } from "effect"
import { EmailApi } from "../../../channels/email/single/EmailApi.ts"
import { SmsApi } from "../../../channels/sms/SmsApi.ts"
import { MessagesApi } from "../../../channels/whatsapp/outbox/MessagesApi.ts"
import type { SummaryChannel } from "../../../messages/MessageSummary.ts"
import { Action, goTo } from "../../page/Action.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { Field, timeOf, wordsOf } from "../../page/Field.ts"

/** The sender's own marks. A message that is sent again brings its metadata, which a person does not edit. */
const labels = {
  tags: Field.text({ label: "send.tags", hint: "send.tagsHint", optional: true, autocomplete: "off" }),
  metadata: Field.hidden()
}

const send_at = Field.time({ label: "send.at", hint: "send.atHint", optional: true })

/** A text that is no time goes out as it is, so that the endpoint refuses it. */
const sendAtOf = (ask: AccountAsk, text: string | undefined) => {
  const time = timeOf(ask, text)
  const send_at = time === undefined ? text : DateTime.formatIso(time)
  return send_at === undefined ? {} : { send_at }
}

const parsed = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Json))

/** The value of a hidden field with JSON. A text that is no JSON goes out as it is, so that the endpoint refuses it. */
const jsonOf = (text: string) => Option.getOrElse(parsed(text), () => text)

const labelsOf = ({ metadata, tags }: { readonly metadata: string; readonly tags: string | undefined }) => {
  const words = wordsOf(tags)
  return { ...(words.length > 0 && { tags: words }), ...(metadata !== "" && { metadata: jsonOf(metadata) }) }
}

const addressesOf = (text: string | undefined) => (text ?? "").split(",").map((one) => one.trim()).filter(Boolean)

/** Each field with addresses as a list. */
const recipientsOf = ({ bcc, cc, to }: Readonly<Record<"to" | "cc" | "bcc", string | undefined>>) => ({
  to: addressesOf(to),
  ...(cc !== undefined && { cc: addressesOf(cc) }),
  ...(bcc !== undefined && { bcc: addressesOf(bcc) })
})

/** The fields that a person left empty are left out, so that the endpoint says which one it needs. */
const filled = (fields: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const mailTo = {
  to: Field.text({ label: "send.to", hint: "send.toHint", autocomplete: "off" }),
  cc: Field.text({ label: "message.kind.cc", optional: true, autocomplete: "off" }),
  bcc: Field.text({ label: "message.kind.bcc", optional: true, autocomplete: "off" }),
  from: Field.text({ label: "send.from", hint: "send.fromHint", optional: true, autocomplete: "off" }),
  reply_to: Field.text({ label: "send.replyTo", hint: "send.replyToHint", optional: true, autocomplete: "off" })
}

const sentTo = (channel: SummaryChannel) =>
({ data }: { readonly data: { readonly id: number } }, { ask }: {
  readonly ask: AccountAsk
}) => goTo(ask.to(`/messages/${channel}/${data.id}`), "send.done")

export const sendEmail = Action.make({
  name: "email",
  endpoint: EmailApi.endpoints.send,
  fields: {
    ...mailTo,
    subject: Field.text({ label: "send.subject", autocomplete: "off" }),
    text: Field.textarea({ label: "send.text", optional: true }),
    html: Field.textarea({ label: "send.html", hint: "send.htmlHint", optional: true, isMono: true }),
    ...labels,
    send_at
  },
  request: ({ bcc, cc, metadata, send_at: at, tags, to, ...texts }, ask) => ({
    payload: {
      ...recipientsOf({ to, cc, bcc }),
      ...filled(texts),
      ...labelsOf({ metadata, tags }),
      ...sendAtOf(ask, at)
    }
  }),
  after: sentTo("email")
})

/** Values from lines such as `name = Ada`. A line without a value is left out, so that the endpoint names it. */
const valuesOf = (text: string | undefined) =>
  Object.fromEntries(
    (text ?? "").split("\n").flatMap((line) => {
      const [name = "", ...rest] = line.split("=")
      const value = rest.join("=").trim()
      return name.trim() === "" || value === "" ? [] : [[name.trim(), value]]
    })
  )

/** A name such as `user.name` reads one level down. */
const nested = (values: Readonly<Record<string, string>>) => {
  const made: Record<string, string | Record<string, string>> = {}
  for (const [name, value] of Object.entries(values)) {
    const [first = "", second] = name.split(".", 2)
    const inner = made[first]
    if (second === undefined) made[first] = value
    else made[first] = { ...(typeof inner === "object" && inner), [second]: value }
  }
  return made
}

/** Sends one mail by a template. */
export const sendTemplate = Action.make({
  name: "template",
  endpoint: EmailApi.endpoints.send,
  fields: {
    ...mailTo,
    template_id: Field.hidden(),
    variables: Field.textarea({ label: "send.variables", hint: "send.variablesHint", optional: true, isMono: true }),
    ...labels,
    send_at
  },
  request: ({ from, metadata, reply_to, send_at: at, tags, template_id, variables, ...to }, ask) => ({
    payload: {
      ...recipientsOf(to),
      template_id,
      variables: nested(valuesOf(variables)),
      ...filled({ from, reply_to }),
      ...labelsOf({ metadata, tags }),
      ...sendAtOf(ask, at)
    }
  }),
  after: sentTo("email")
})

export const sendSms = Action.make({
  name: "sms",
  endpoint: SmsApi.endpoints.send,
  fields: {
    to: Field.text({ label: "send.to", hint: "send.toPhoneHint", autocomplete: "off" }),
    content: Field.textarea({ label: "send.content" }),
    sender_id: Field.text({ label: "send.sender", hint: "send.senderHint", optional: true, autocomplete: "off" }),
    ...labels,
    send_at
  },
  request: ({ metadata, send_at: at, tags, ...fields }, ask) => ({
    payload: { ...filled(fields), ...labelsOf({ metadata, tags }), ...sendAtOf(ask, at) }
  }),
  after: sentTo("sms")
})

const session_id = Field.select({ label: "send.session" })

const chat = Field.text({ label: "send.to", hint: "send.toChatHint", autocomplete: "off" })

const sessionOf = (id: string | undefined) => id === undefined ? {} : { session_id: Number(id) }

export const sendWhatsApp = Action.make({
  name: "whatsapp",
  endpoint: MessagesApi.endpoints.send,
  fields: {
    session_id,
    to: chat,
    content: Field.textarea({ label: "send.content" }),
    ...labels,
    send_at
  },
  request: ({ content, metadata, send_at: at, session_id: id, tags, to }, ask) => ({
    payload: {
      ...sessionOf(id),
      ...filled({ to }),
      type: "text",
      content: { body: content ?? "" },
      ...labelsOf({ metadata, tags }),
      ...sendAtOf(ask, at)
    }
  }),
  after: sentTo("whatsapp")
})

export const sendToGroup = Action.make({
  name: "group",
  endpoint: MessagesApi.endpoints.send,
  fields: {
    session_id: Field.hidden(),
    group_id: Field.hidden(),
    content: Field.textarea({ label: "send.content" }),
    ...labels,
    send_at
  },
  request: ({ content, group_id, metadata, send_at: at, session_id: id, tags }, ask) => ({
    payload: {
      ...sessionOf(id),
      group_id: Number(group_id),
      type: "text",
      content: { body: content ?? "" },
      ...labelsOf({ metadata, tags }),
      ...sendAtOf(ask, at)
    }
  }),
  after: sentTo("whatsapp")
})

/** Sends a file, a place, a contact or a poll again. */
export const sendFixed = Action.make({
  name: "fixed",
  endpoint: MessagesApi.endpoints.send,
  fields: { session_id, to: chat, type: Field.hidden(), content: Field.hidden(), ...labels, send_at },
  request: ({ content, metadata, send_at: at, session_id: id, tags, to, type }, ask) => ({
    payload: {
      ...sessionOf(id),
      ...filled({ to }),
      type,
      content: jsonOf(content),
      ...labelsOf({ metadata, tags }),
      ...sendAtOf(ask, at)
    }
  }),
  after: sentTo("whatsapp")
})

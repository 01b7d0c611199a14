import { DateTime, Effect, Option, Schema } from "effect"
import { EmailApi } from "../../../channels/email/single/EmailApi.ts"
import { Emails } from "../../../channels/email/single/Emails.ts"
import { SmsApi } from "../../../channels/sms/SmsApi.ts"
import type { Session } from "../../../channels/whatsapp/model/Session.ts"
import { MessagesApi } from "../../../channels/whatsapp/outbox/MessagesApi.ts"
import { Sessions } from "../../../channels/whatsapp/sessions/Sessions.ts"
import { Messages } from "../../../messages/Messages.ts"
import type { SummaryChannel } from "../../../messages/MessageSummary.ts"
import { html } from "../../../platform/http/html.ts"
import { Templates } from "../../../templates/Templates.ts"
import { EmailMessageId, MessageId, pathId, TemplateId } from "../../../values/Ids.ts"
import { Action, goTo } from "../../page/Action.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { Field, timeOf, wordsOf } from "../../page/Field.ts"
import { Page } from "../../page/Page.ts"
import { form } from "../../ui/form.ts"
import { card, emptyState, foreign, note } from "../../ui/parts.ts"
import { tabs } from "../../ui/progress.ts"
import { channelsOf, tabIn } from "./messageParts.ts"

const tags = Field.text({ label: "send.tags", hint: "send.tagsHint", optional: true, autocomplete: "off" })

const send_at = Field.time({ label: "send.at", hint: "send.atHint", optional: true })

/** A text that is no time goes out as it is, so that the endpoint refuses it. */
const sendAtOf = (ask: AccountAsk, text: string | undefined) => {
  const time = timeOf(ask, text)
  const send_at = time === undefined ? text : DateTime.formatIso(time)
  return send_at === undefined ? {} : { send_at }
}

const tagsOf = (text: string | undefined) => {
  const words = wordsOf(text)
  return words.length === 0 ? {} : { tags: words }
}

const addressesOf = (text: string | undefined) => (text ?? "").split(",").map((one) => one.trim()).filter(Boolean)

/** The fields that a person left empty are left out, so that the endpoint says which one it needs. */
const filled = (fields: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const mailTo = {
  to: Field.text({ label: "send.to", hint: "send.toHint", autocomplete: "off" }),
  from: Field.text({ label: "send.from", hint: "send.fromHint", optional: true, autocomplete: "off" })
}

const sentTo = (channel: SummaryChannel) =>
({ data }: { readonly data: { readonly id: number } }, { ask }: {
  readonly ask: AccountAsk
}) => goTo(ask.to(`/messages/${channel}/${data.id}`), "send.done")

const sendEmail = Action.make({
  name: "email",
  endpoint: EmailApi.endpoints.send,
  fields: {
    ...mailTo,
    subject: Field.text({ label: "send.subject", autocomplete: "off" }),
    text: Field.textarea({ label: "send.text", optional: true }),
    html: Field.textarea({ label: "send.html", hint: "send.htmlHint", optional: true, isMono: true }),
    tags,
    send_at
  },
  request: ({ send_at: at, tags: words, to, ...texts }, ask) => ({
    payload: { to: addressesOf(to), ...filled(texts), ...tagsOf(words), ...sendAtOf(ask, at) }
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

const sendTemplate = Action.make({
  name: "template",
  endpoint: EmailApi.endpoints.send,
  fields: {
    ...mailTo,
    template_id: Field.hidden(),
    variables: Field.textarea({ label: "send.variables", hint: "send.variablesHint", optional: true, isMono: true }),
    tags,
    send_at
  },
  request: ({ from, send_at: at, tags: words, template_id, to, variables }, ask) => ({
    payload: {
      to: addressesOf(to),
      template_id,
      variables: nested(valuesOf(variables)),
      ...filled({ from }),
      ...tagsOf(words),
      ...sendAtOf(ask, at)
    }
  }),
  after: sentTo("email")
})

const sendSms = Action.make({
  name: "sms",
  endpoint: SmsApi.endpoints.send,
  fields: {
    to: Field.text({ label: "send.to", hint: "send.toPhoneHint", autocomplete: "off" }),
    content: Field.textarea({ label: "send.content" }),
    sender_id: Field.text({ label: "send.sender", hint: "send.senderHint", optional: true, autocomplete: "off" }),
    tags,
    send_at
  },
  request: ({ send_at: at, tags: words, ...fields }, ask) => ({
    payload: { ...filled(fields), ...tagsOf(words), ...sendAtOf(ask, at) }
  }),
  after: sentTo("sms")
})

const sendWhatsApp = Action.make({
  name: "whatsapp",
  endpoint: MessagesApi.endpoints.send,
  fields: {
    session_id: Field.select({ label: "send.session" }),
    to: Field.text({ label: "send.to", hint: "send.toChatHint", autocomplete: "off" }),
    content: Field.textarea({ label: "send.content" }),
    tags,
    send_at
  },
  request: ({ content, send_at: at, session_id, tags: words, to }, ask) => ({
    payload: {
      ...(session_id !== undefined && { session_id: Number(session_id) }),
      ...filled({ to }),
      type: "text",
      content: { body: content ?? "" },
      ...tagsOf(words),
      ...sendAtOf(ask, at)
    }
  }),
  after: sentTo("whatsapp")
})

/** The values of a form before a person has typed. */
type Prefilled = Readonly<Record<string, string>>

const mostSessions = 100

/** The fields of a message that is sent again. The record of an email has no text. */
const againOf = Effect.fnUntraced(function*({ accountId }: AccountAsk, channel: SummaryChannel, text: string) {
  if (channel === "email") {
    const id = Schema.decodeOption(pathId(EmailMessageId))(text)
    if (Option.isNone(id)) return undefined
    const email = yield* Effect.option((yield* Emails).find(accountId, id.value))
    return Option.getOrUndefined(
      Option.map(email, ({ subject, tags: words, to }): Prefilled => ({
        to: [to].flat().join(", "),
        subject,
        tags: words.join(" ")
      }))
    )
  }
  const id = Schema.decodeOption(pathId(MessageId))(text)
  if (Option.isNone(id)) return undefined
  const message = yield* Effect.option((yield* Messages).find({ accountId, channel }, id.value))
  return Option.getOrUndefined(
    Option.map(message, ({ content, session_id, tags: words, to }): Prefilled => ({
      to,
      content: content?.body ?? "",
      tags: words.join(" "),
      ...(session_id !== null && { session_id: String(session_id) })
    }))
  )
})

const templateOf = Effect.fnUntraced(function*({ accountId, query }: AccountAsk) {
  const id = Schema.decodeUnknownOption(TemplateId)(query.get("template"))
  if (Option.isNone(id)) return undefined
  const found = yield* Effect.option((yield* Templates).find(accountId, id.value))
  return Option.getOrUndefined(found)
})

const read = Effect.fnUntraced(function*(ask: AccountAsk) {
  const channel = tabIn(ask, channelsOf(ask, "write"))
  const again = ask.query.get("again")
  const prefilled = again === null ? undefined : yield* againOf(ask, channel, again)
  const sessions: ReadonlyArray<Session> = channel === "whatsapp"
    ? (yield* (yield* Sessions).list(ask.accountId, { status: "connected" }, {
      limit: mostSessions,
      offset: 0,
      after: null
    })).rows
    : []
  const template = channel === "email" ? yield* templateOf(ask) : undefined
  return { channel, isMissing: again !== null && prefilled === undefined, prefilled, sessions, template }
})

type Read = Effect.Success<ReturnType<typeof read>>

const formOf = (ask: AccountAsk, { channel, prefilled, sessions, template }: Read) => {
  const { query, t } = ask
  const to = query.get("to")
  const values = { ...(to !== null && { to }), ...prefilled }
  const options = { submit: t.text("send.button"), values }
  if (channel === "sms") return form(ask, sendSms, options)
  if (channel === "email") {
    if (template === undefined) return form(ask, sendEmail, options)
    const variables = template.variables.map((name) => `${name} = `).join("\n")
    return form(ask, sendTemplate, { ...options, values: { ...values, template_id: template.id, variables } })
  }
  if (sessions.length === 0) {
    return emptyState({
      icon: "smartphone",
      title: t.text("send.noSession.title"),
      text: t.text("send.noSession.text")
    })
  }
  const choices = sessions.map(({ id, name, phone_number }) => ({
    value: String(id),
    label: phone_number === null ? name : `${name} (+${phone_number})`
  }))
  return form(ask, sendWhatsApp, { ...options, choices: { session_id: choices } })
}

/** The forms that send one message. */
export const sendPage = Page.account({
  path: "/send",
  permission: "messages:write",
  entry: { group: "", label: "nav.send", icon: "send", order: 4, key: "s" },
  read,
  draw: (given, ask) => {
    const { mode, path, t } = ask
    const { channel, isMissing, template } = given
    return {
      title: t.text("send.title"),
      crumbs: [{ href: ask.to("/messages"), label: t.text("messages.title") }],
      content: html`${
        tabs(
          t.text("send.channels"),
          channelsOf(ask, "write").map((one) => ({
            label: t.text(`channel.${one}`),
            href: `${path}?channel=${one}`,
            isCurrent: one === channel
          }))
        )
      }
${isMissing && note(t.text("send.missing"), "warn")}
${template !== undefined && note(t.rich("send.withTemplate", { name: foreign(template.name) }))}
${mode === "test" && note(t.text("send.testNote"))}
${card(t.text(`channel.${channel}`), formOf(ask, given), "form")}`
    }
  },
  actions: [sendEmail, sendTemplate, sendSms, sendWhatsApp]
})

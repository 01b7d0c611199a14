import { DateTime, Effect } from "effect"
import { EmailApi } from "../../../channels/email/single/EmailApi.ts"
import { Emails } from "../../../channels/email/single/Emails.ts"
import { SmsApi } from "../../../channels/sms/SmsApi.ts"
import { MessagesApi } from "../../../channels/whatsapp/outbox/MessagesApi.ts"
import { Messages } from "../../../messages/Messages.ts"
import type { SummaryChannel } from "../../../messages/MessageSummary.ts"
import { html } from "../../../platform/http/html.ts"
import { EmailMessageId, MessageId } from "../../../values/Ids.ts"
import { Action, goTo } from "../../page/Action.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { Field, localText, timeOf } from "../../page/Field.ts"
import { idIn, Page } from "../../page/Page.ts"
import { form } from "../../ui/form.ts"
import { channelIn, recipientsText } from "./messageParts.ts"

const of = ({ params }: AccountAsk) => ({ params: { id: params["id"] } })

/** The message of a page that stands below it. */
const above = ({ path }: AccountAsk) => path.replace(/\/\w+\/?$/, "")

const cancels = {
  fields: {},
  request: (_: unknown, ask: AccountAsk) => of(ask),
  after: (_: unknown, { ask }: { readonly ask: AccountAsk }) => goTo(above(ask), "message.cancel.done")
}

/** The endpoints refuse a message that was sent meanwhile. */
const cancelActions = {
  email: Action.make({ ...cancels, name: "email", endpoint: EmailApi.endpoints.cancel }),
  sms: Action.make({ ...cancels, name: "sms", endpoint: SmsApi.endpoints.cancelOne }),
  whatsapp: Action.make({ ...cancels, name: "whatsapp", endpoint: MessagesApi.endpoints.cancelOne })
}

const reschedules = {
  fields: { send_at: Field.time({ label: "message.reschedule.time", hint: "message.reschedule.timeHint" }) },
  request: ({ send_at }: { readonly send_at: string | undefined }, ask: AccountAsk) => {
    const time = timeOf(ask, send_at)
    return { ...of(ask), payload: { send_at: time === undefined ? "" : DateTime.formatIso(time) } }
  },
  after: (_: unknown, { ask }: { readonly ask: AccountAsk }) => goTo(above(ask), "message.reschedule.done")
}

const rescheduleActions = {
  email: Action.make({ ...reschedules, name: "email", endpoint: EmailApi.endpoints.reschedule }),
  sms: Action.make({ ...reschedules, name: "sms", endpoint: SmsApi.endpoints.reschedule }),
  whatsapp: Action.make({ ...reschedules, name: "whatsapp", endpoint: MessagesApi.endpoints.reschedule })
}

const read = Effect.fnUntraced(function*(ask: AccountAsk) {
  const channel: SummaryChannel = yield* channelIn(ask)
  const { accountId } = ask
  const { id, send_at, to } = channel === "email"
    ? yield* (yield* Emails).find(accountId, yield* idIn(ask, EmailMessageId))
    : yield* (yield* Messages).find({ accountId, channel }, yield* idIn(ask, MessageId))
  return { channel, id, send_at, to }
})

type Read = Effect.Success<ReturnType<typeof read>>

const placeOf = (ask: AccountAsk, { channel, id, to }: Read) => {
  const { t } = ask
  const here = ask.to(`/messages/${channel}/${id}`)
  const title = t.text("message.title", { channel: t.text(`channel.${channel}`), to: recipientsText(ask, to) })
  return {
    here,
    crumbs: [{ href: ask.to("/messages"), label: t.text("messages.title") }, { href: here, label: title }]
  }
}

/** Asks before a message that waits is canceled. */
const cancel = Page.account({
  path: "/messages/:channel/:id/cancel",
  permission: "messages:write",
  read,
  draw: (message, ask) => {
    const { t } = ask
    const { crumbs, here } = placeOf(ask, message)
    return {
      title: t.text("message.cancel.title"),
      crumbs,
      content: html`<p>${t.text("message.cancel.text")}</p>
${form(ask, cancelActions[message.channel], { submit: t.text("message.cancel"), tone: "danger", cancel: here })}`
    }
  },
  actions: [cancelActions.email, cancelActions.sms, cancelActions.whatsapp]
})

/** Gives a scheduled message another time. */
const reschedule = Page.account({
  path: "/messages/:channel/:id/reschedule",
  permission: "messages:write",
  read,
  draw: (message, ask) => {
    const { t, timezone } = ask
    const { crumbs, here } = placeOf(ask, message)
    const send_at = message.send_at === null ? "" : localText(ask, DateTime.makeUnsafe(message.send_at))
    return {
      title: t.text("message.reschedule.title"),
      crumbs,
      content: html`<p>${t.text("message.reschedule.text", { zone: timezone })}</p>
${
        form(ask, rescheduleActions[message.channel], {
          submit: t.text("message.reschedule"),
          cancel: here,
          values: { send_at }
        })
      }`
    }
  },
  actions: [rescheduleActions.email, rescheduleActions.sms, rescheduleActions.whatsapp]
})

/** What a person does with a message that waits: cancel it, or give it another time. */
export const messageWaitPages = [cancel, reschedule] as const

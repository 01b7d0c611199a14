import { Effect, Option, Schema } from "effect"
import type { Batch } from "../../../channels/email/bulk/Batch.ts"
import { BulkEmail } from "../../../channels/email/bulk/BulkEmail.ts"
import { BulkEmailApi } from "../../../channels/email/bulk/BulkEmailApi.ts"
import { SmsApi } from "../../../channels/sms/SmsApi.ts"
import { MessagesApi } from "../../../channels/whatsapp/outbox/MessagesApi.ts"
import type { MessageBatch } from "../../../messages/Message.ts"
import { Messages } from "../../../messages/Messages.ts"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import { html } from "../../../platform/http/html.ts"
import { EmailBatchId, MessageBatchId } from "../../../values/Ids.ts"
import { Action, goTo } from "../../page/Action.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { Page } from "../../page/Page.ts"
import { form } from "../../ui/form.ts"
import { channelIn } from "./messageParts.ts"

export type AnyBatch = Batch | MessageBatch

export const crumbs = ({ t, to }: AccountAsk) => [{ href: to("/batches"), label: t.text("batches.title") }]

/** The batch of the address. */
export const batchOf = Effect.fnUntraced(function*(ask: AccountAsk) {
  const channel = yield* channelIn(ask)
  const { accountId, params } = ask
  if (channel === "email") {
    const id = Schema.decodeUnknownOption(EmailBatchId)(params["id"])
    if (Option.isNone(id)) return yield* new NotFound()
    const batch: AnyBatch = yield* (yield* BulkEmail).find(accountId, id.value)
    return { channel, batch }
  }
  const id = Schema.decodeUnknownOption(MessageBatchId)(params["id"])
  if (Option.isNone(id)) return yield* new NotFound()
  const batch: AnyBatch = yield* (yield* Messages).batch({ accountId, channel }, id.value)
  return { channel, batch }
})

const request = (_: unknown, { params: { id } }: AccountAsk) => ({ params: { batch_id: id } })

const cancels = {
  fields: {},
  request,
  after: (_: unknown, { ask }: { readonly ask: AccountAsk }) =>
    goTo(ask.path.replace(/\/cancel\/?$/, ""), "batch.cancel.done")
}

const cancelActions = {
  email: Action.make({ ...cancels, name: "email", endpoint: BulkEmailApi.endpoints.cancel }),
  sms: Action.make({ ...cancels, name: "sms", endpoint: SmsApi.endpoints.cancel }),
  whatsapp: Action.make({ ...cancels, name: "whatsapp", endpoint: MessagesApi.endpoints.cancel })
}

const cancel = Page.account({
  path: "/batches/:channel/:id/cancel",
  permission: "messages:write",
  read: batchOf,
  draw: ({ batch, channel }, ask) => {
    const { t, to } = ask
    const here = to(`/batches/${channel}/${batch.batch_id}`)
    return {
      title: t.text("batch.cancel.title"),
      crumbs: [...crumbs(ask), { href: here, label: t.text("batch.title", { total: batch.total }) }],
      content: html`<p>${t.text("batch.cancel.text", { queued: batch.queued })}</p>
${form(ask, cancelActions[channel], { submit: t.text("batch.cancel"), tone: "danger", cancel: here })}`
    }
  },
  actions: [cancelActions.email, cancelActions.sms, cancelActions.whatsapp]
})

const resends = {
  fields: {},
  request,
  /** The new batch stands beside the one that it sends again. */
  after: ({ data }: { readonly data: AnyBatch }, { ask }: { readonly ask: AccountAsk }) =>
    goTo(ask.path.replace(/[^/]+\/again\/?$/, data.batch_id), "batch.again.done")
}

const resendActions = {
  email: Action.make({ ...resends, name: "email", endpoint: BulkEmailApi.endpoints.resend }),
  sms: Action.make({ ...resends, name: "sms", endpoint: SmsApi.endpoints.resend }),
  whatsapp: Action.make({ ...resends, name: "whatsapp", endpoint: MessagesApi.endpoints.resend })
}

const again = Page.account({
  path: "/batches/:channel/:id/again",
  permission: "messages:write",
  read: batchOf,
  draw: ({ batch, channel }, ask) => {
    const { t, to } = ask
    const here = to(`/batches/${channel}/${batch.batch_id}`)
    return {
      title: t.text("batch.again.title"),
      crumbs: [...crumbs(ask), { href: here, label: t.text("batch.title", { total: batch.total }) }],
      content: html`<p>${t.text("batch.again.text")}</p>
${form(ask, resendActions[channel], { submit: t.text("batch.again"), cancel: here })}`
    }
  },
  actions: [resendActions.email, resendActions.sms, resendActions.whatsapp]
})

/** What a person does with a batch: send it again to those whom it did not reach, or cancel it. */
export const batchChangePages = [again, cancel] as const

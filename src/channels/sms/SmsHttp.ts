import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Messages } from "../../messages/Messages.ts"
import { Principal } from "../../platform/http/Authentication.ts"
import { baseContract } from "../../platform/http/baseContract.ts"
import { page } from "../../platform/http/pages.ts"
import { created } from "../../platform/http/RequestContext.ts"
import type { MessageId } from "../../values/Ids.ts"
import { ReceiptMatching } from "./parts/PartStatusUpdates.ts"
import { PhoneHttp } from "./PhoneHttp.ts"
import { SmsApi } from "./SmsApi.ts"
import { SmsMessages } from "./SmsMessages.ts"
import { senderIdType } from "./text/segments.ts"

const owner = Effect.map(Principal, ({ accountId }) => ({ accountId, channel: "sms" as const }))

const SmsHttp = HttpApiBuilder.group(baseContract.add(SmsApi), "sms", (handlers) =>
  Effect.gen(function*() {
    const sms = yield* SmsMessages
    const messages = yield* Messages
    const find = Effect.fnUntraced(function*({ params }: { readonly params: { readonly id: MessageId } }) {
      return { data: yield* messages.find(yield* owner, params.id) }
    })
    return handlers.handleAll({
      send: Effect.fnUntraced(function*({ payload }) {
        const { accountId } = yield* Principal
        const accepted = yield* sms.send(accountId, payload)
        yield* created(`/v1/sms/messages/${accepted.message_id}`)
        return { success: true as const, data: accepted }
      }),
      sendBulk: Effect.fnUntraced(function*({ payload }) {
        const { accountId } = yield* Principal
        const accepted = yield* sms.sendBulk(accountId, payload)
        yield* created(`/v1/sms/batches/${accepted.batch_id}`)
        return { success: true as const, data: accepted }
      }),
      batches: Effect.fnUntraced(function*({ query }) {
        const of = yield* owner
        return yield* page(query, (window) => messages.batches(of, query, window))
      }),
      batch: Effect.fnUntraced(function*({ params }) {
        return { data: yield* messages.batch(yield* owner, params.batch_id) }
      }),
      cancel: Effect.fnUntraced(function*({ params }) {
        const of = yield* owner
        const { completed_at } = yield* messages.batch(of, params.batch_id)
        if (completed_at === null) yield* sms.cancel(params.batch_id)
        return { success: true as const, data: yield* messages.batch(of, params.batch_id) }
      }),
      list: Effect.fnUntraced(function*({ query }) {
        const of = yield* owner
        return yield* page(query, (window) => messages.list(of, query, window))
      }),
      find,
      status: find,
      senderIds: ({ query }) =>
        page(query, ({ limit, offset }) => {
          const rows = sms.senderIds.map((sender_id, index) => ({
            sender_id,
            type: senderIdType(sender_id),
            is_default: index === 0
          }))
          return Effect.succeed({ rows: rows.slice(offset, offset + limit), total: rows.length })
        })
    })
  }))

/** The SMS channel with its endpoints. It needs a provider's `SmsOutlet`. */
export const SmsLayer = Layer.mergeAll(PhoneHttp, SmsHttp.pipe(Layer.provideMerge(SmsMessages.layer)), ReceiptMatching)

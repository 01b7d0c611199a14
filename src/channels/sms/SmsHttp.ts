import { Effect, Layer, Option } from "effect"
import { MessageChanges } from "../../messages/MessageChanges.ts"
import { notCanceled } from "../../messages/MessageOver.ts"
import { Messages } from "../../messages/Messages.ts"
import { Principal } from "../../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../../platform/http/baseContract.ts"
import { page } from "../../platform/http/pages.ts"
import { created } from "../../platform/http/RequestContext.ts"
import type { MessageId } from "../../values/Ids.ts"
import type { PageRequest } from "../../values/Page.ts"
import { ReceiptMatching } from "./parts/PartStatusUpdates.ts"
import { PhoneHttp } from "./PhoneHttp.ts"
import { ScheduledSms } from "./ScheduledSms.ts"
import { SmsApi } from "./SmsApi.ts"
import { SmsLinks } from "./SmsLinks.ts"
import { SmsMessages } from "./SmsMessages.ts"
import { SmsStatistics } from "./SmsStatistics.ts"
import { senderIdType } from "./text/segments.ts"

const owner = Effect.map(Principal, ({ accountId }) => ({ accountId, channel: "sms" as const }))

const newBatch = Effect.fnUntraced(function*<B extends { readonly batch_id: string }>(data: B) {
  yield* created(`/v1/sms/batches/${data.batch_id}`)
  return { success: true as const, data }
})

const data = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.map(effect, (data) => ({ data }))

const senderIds = (all: ReadonlyArray<string>, query: PageRequest) =>
  page(query, ({ after, limit, offset }) => {
    const rows = all.map((sender_id, index) => ({ sender_id, type: senderIdType(sender_id), is_default: index === 0 }))
    const from = after === null ? offset : rows.findIndex(({ sender_id }) => sender_id === after[0]) + 1
    return Effect.succeed({ rows: rows.slice(from, from + limit), total: rows.length })
  }, ({ sender_id }) => [sender_id])

/** The contract has no last error of a link, because it may name machines of the operator. So no answer has one. */
const linkOf = ({ link, provider }: Effect.Success<ReturnType<SmsLinks["Service"]["of"]>>) => ({
  provider,
  link: Option.getOrNull(link)
})

const SmsHttp = endpointGroup(baseContract.add(SmsApi), "sms", (handlers) =>
  Effect.gen(function*() {
    const sms = yield* SmsMessages
    const messages = yield* Messages
    const changes = yield* MessageChanges
    const links = yield* SmsLinks
    const statistics = yield* SmsStatistics
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
      preview: ({ payload }) => data(Effect.flatMap(owner, ({ accountId }) => sms.preview(accountId, payload))),
      sendBulk: Effect.fnUntraced(function*({ payload }) {
        const { accountId } = yield* Principal
        return yield* newBatch(yield* sms.sendBulk(accountId, payload))
      }),
      batches: Effect.fnUntraced(function*({ query }) {
        const of = yield* owner
        return yield* page(query, (window) =>
          messages.batches(of, query, window), ({ batch_id, created_at }) => [created_at, batch_id])
      }),
      batch: ({ params: { batch_id } }) =>
        data(Effect.flatMap(owner, (of) =>
          messages.batch(of, batch_id))),
      resend: ({ params: { batch_id } }) =>
        Effect.flatMap(owner, ({ accountId }) => Effect.flatMap(sms.resend(accountId, batch_id), newBatch)),
      cancel: Effect.fnUntraced(function*({ params }) {
        const of = yield* owner
        const { completed_at } = yield* messages.batch(of, params.batch_id)
        if (completed_at === null) yield* sms.cancel(params.batch_id)
        return { success: true as const, data: yield* messages.batch(of, params.batch_id) }
      }),
      list: Effect.fnUntraced(function*({ query }) {
        const of = yield* owner
        return yield* page(query, (window) => messages.list(of, query, window), ({ id }) => [id])
      }),
      find,
      status: find,
      cancelOne: Effect.fnUntraced(function*({ params }) {
        const of = yield* owner
        yield* messages.find(of, params.id)
        const isCanceled = yield* sms.cancelOne(params.id)
        const message = yield* messages.find(of, params.id)
        return isCanceled ? { success: true as const, data: message } : yield* notCanceled(message)
      }),
      reschedule: ({ params: { id }, payload: { send_at } }) =>
        data(Effect.flatMap(owner, (of) => changes.reschedule(of, id, send_at))),
      rescheduleBatch: ({ params: { batch_id }, payload: { send_at } }) =>
        data(Effect.flatMap(owner, (of) => changes.rescheduleBatch(of, batch_id, send_at))),
      senderIds: ({ query }) => senderIds(sms.senderIds, query),
      link: () => data(Effect.flatMap(Principal, ({ mode }) => Effect.map(links.of(mode), linkOf))),
      statistics: () => data(Effect.flatMap(Principal, ({ accountId }) => statistics.read(accountId)))
    })
  }))

/** The SMS channel with its endpoints. It needs a provider's `SmsOutlet`. */
export const SmsLayer = Layer.mergeAll(
  PhoneHttp,
  SmsHttp.pipe(Layer.provideMerge([SmsMessages.layer, SmsLinks.layer, SmsStatistics.layer])),
  ReceiptMatching,
  ScheduledSms
)

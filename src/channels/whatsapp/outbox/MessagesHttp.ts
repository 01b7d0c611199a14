import { Effect } from "effect"
import { MessageChanges } from "../../../messages/MessageChanges.ts"
import { notCanceled } from "../../../messages/MessageOver.ts"
import { Messages } from "../../../messages/Messages.ts"
import { Principal } from "../../../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../../../platform/http/baseContract.ts"
import { page } from "../../../platform/http/pages.ts"
import { created } from "../../../platform/http/RequestContext.ts"
import { MessagesApi } from "./MessagesApi.ts"
import { OutboxFigures } from "./OutboxFigures.ts"
import { OutboxStatusUpdates } from "./OutboxStatusUpdates.ts"
import { WhatsAppMessages } from "./WhatsAppMessages.ts"

const owner = Effect.map(Principal, ({ accountId }) => ({ accountId, channel: "whatsapp" as const }))

const newBatch = Effect.fnUntraced(function*<B extends { readonly batch_id: string }>(data: B) {
  yield* created(`/v1/whatsapp/batches/${data.batch_id}`)
  return { success: true as const, data }
})

const data = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.map(effect, (data) => ({ data }))

export const MessagesHttp = endpointGroup(
  baseContract.add(MessagesApi),
  "whatsappMessages",
  (handlers) =>
    Effect.gen(function*() {
      const whatsapp = yield* WhatsAppMessages
      const messages = yield* Messages
      const changes = yield* MessageChanges
      const updates = yield* OutboxStatusUpdates
      const figures = yield* OutboxFigures
      return handlers.handleAll({
        send: Effect.fnUntraced(function*({ payload }) {
          const { accountId } = yield* Principal
          const accepted = yield* whatsapp.send(accountId, payload)
          yield* created(`/v1/whatsapp/messages/${accepted.message_id}`)
          return { success: true as const, data: accepted }
        }),
        sendBulk: Effect.fnUntraced(function*({ payload }) {
          const { accountId } = yield* Principal
          return yield* newBatch(yield* whatsapp.sendBulk(accountId, payload))
        }),
        batches: Effect.fnUntraced(function*({ query }) {
          const of = yield* owner
          return yield* page(query, (window) =>
            messages.batches(of, query, window), ({ batch_id, created_at }) => [created_at, batch_id])
        }),
        batch: ({ params: { batch_id } }) =>
          data(Effect.flatMap(owner, (of) =>
            messages.batch(of, batch_id))),
        resend: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return yield* newBatch(yield* whatsapp.resend(accountId, params.batch_id))
        }),
        cancel: Effect.fnUntraced(function*({ params }) {
          const of = yield* owner
          const { completed_at } = yield* messages.batch(of, params.batch_id)
          if (completed_at === null) {
            yield* updates.cancel(params.batch_id)
          }
          return { success: true as const, data: yield* messages.batch(of, params.batch_id) }
        }),
        list: Effect.fnUntraced(function*({ query }) {
          const of = yield* owner
          return yield* page(query, (window) => messages.list(of, query, window), ({ id }) => [id])
        }),
        find: ({ params: { id } }) => data(Effect.flatMap(owner, (of) => messages.find(of, id))),
        cancelOne: Effect.fnUntraced(function*({ params }) {
          const of = yield* owner
          yield* messages.find(of, params.id)
          const isCanceled = yield* whatsapp.withdraw(params.id)
          const message = yield* messages.find(of, params.id)
          return isCanceled ? { success: true as const, data: message } : yield* notCanceled(message)
        }),
        reschedule: Effect.fnUntraced(function*({ params, payload }) {
          return { data: yield* changes.reschedule(yield* owner, params.id, payload.send_at) }
        }),
        rescheduleBatch: Effect.fnUntraced(function*({ params, payload }) {
          return { data: yield* changes.rescheduleBatch(yield* owner, params.batch_id, payload.send_at) }
        }),
        figures: ({ params: { id } }) => data(Effect.flatMap(owner, ({ accountId }) => figures.find({ accountId, id })))
      })
    })
)

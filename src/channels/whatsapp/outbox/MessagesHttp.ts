import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Messages } from "../../../messages/Messages.ts"
import { Principal } from "../../../platform/http/Authentication.ts"
import { baseContract } from "../../../platform/http/baseContract.ts"
import { page } from "../../../platform/http/pages.ts"
import { created } from "../../../platform/http/RequestContext.ts"
import { MessagesApi } from "./MessagesApi.ts"
import { OutboxStatusUpdates } from "./OutboxStatusUpdates.ts"
import { WhatsAppMessages } from "./WhatsAppMessages.ts"

const owner = Effect.map(Principal, ({ accountId }) => ({ accountId, channel: "whatsapp" as const }))

export const MessagesHttp = HttpApiBuilder.group(
  baseContract.add(MessagesApi),
  "whatsappMessages",
  (handlers) =>
    Effect.gen(function*() {
      const whatsapp = yield* WhatsAppMessages
      const messages = yield* Messages
      const updates = yield* OutboxStatusUpdates
      return handlers.handleAll({
        send: Effect.fnUntraced(function*({ payload }) {
          const { accountId } = yield* Principal
          const accepted = yield* whatsapp.send(accountId, payload)
          yield* created(`/v1/whatsapp/messages/${accepted.message_id}`)
          return { success: true as const, data: accepted }
        }),
        sendBulk: Effect.fnUntraced(function*({ payload }) {
          const { accountId } = yield* Principal
          const accepted = yield* whatsapp.sendBulk(accountId, payload)
          yield* created(`/v1/whatsapp/batches/${accepted.batch_id}`)
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
          if (completed_at === null) yield* updates.cancel(params.batch_id)
          return { success: true as const, data: yield* messages.batch(of, params.batch_id) }
        }),
        list: Effect.fnUntraced(function*({ query }) {
          const of = yield* owner
          return yield* page(query, (window) => messages.list(of, query, window))
        }),
        find: Effect.fnUntraced(function*({ params }) {
          return { data: yield* messages.find(yield* owner, params.id) }
        })
      })
    })
)

import { Effect } from "effect"
import { Principal } from "../../../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../../../platform/http/baseContract.ts"
import { page } from "../../../platform/http/pages.ts"
import { created } from "../../../platform/http/RequestContext.ts"
import { BatchTimes } from "./BatchTimes.ts"
import { BulkEmail } from "./BulkEmail.ts"
import { BulkEmailApi } from "./BulkEmailApi.ts"
import { EmailResends } from "./EmailResends.ts"

/** Serves {@link BulkEmailApi}. */
export const BulkEmailHttp = endpointGroup(
  baseContract.add(BulkEmailApi),
  "bulkEmail",
  (handlers) =>
    Effect.gen(function*() {
      const bulk = yield* BulkEmail
      const times = yield* BatchTimes
      const resends = yield* EmailResends
      return handlers.handleAll({
        sendBulk: Effect.fnUntraced(function*({ payload }) {
          const { accountId } = yield* Principal
          const batch = yield* bulk.send(accountId, payload)
          yield* created(`/v1/email/batches/${batch.batch_id}`)
          return { success: true as const, data: batch }
        }),
        batches: Effect.fnUntraced(function*({ query }) {
          const { accountId } = yield* Principal
          return yield* page(query, (window) =>
            bulk.list(accountId, query, window), ({ batch_id, created_at }) => [created_at, batch_id])
        }),
        batch: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { data: yield* bulk.find(accountId, params.batch_id) }
        }),
        recipients: Effect.fnUntraced(function*({ params, query }) {
          const { accountId } = yield* Principal
          const batch = { accountId, batchId: params.batch_id }
          return yield* page(query, (window) =>
            bulk.recipients(batch, query, window), ({ id, position }) => [id, position])
        }),
        resend: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          const batch = yield* resends.resend(accountId, params.batch_id)
          yield* created(`/v1/email/batches/${batch.batch_id}`)
          return { success: true as const, data: batch }
        }),
        cancel: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { success: true as const, data: yield* bulk.cancel(accountId, params.batch_id) }
        }),
        reschedule: Effect.fnUntraced(function*({ params, payload }) {
          const { accountId } = yield* Principal
          return { data: yield* times.reschedule(accountId, params.batch_id, payload.send_at) }
        })
      })
    })
)

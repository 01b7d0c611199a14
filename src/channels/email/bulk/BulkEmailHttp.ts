import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Principal } from "../../../platform/http/Authentication.ts"
import { baseContract } from "../../../platform/http/baseContract.ts"
import { page } from "../../../platform/http/pages.ts"
import { created } from "../../../platform/http/RequestContext.ts"
import { BulkEmail } from "./BulkEmail.ts"
import { BulkEmailApi } from "./BulkEmailApi.ts"

/** Serves {@link BulkEmailApi}. */
export const BulkEmailHttp = HttpApiBuilder.group(
  baseContract.add(BulkEmailApi),
  "bulkEmail",
  (handlers) =>
    Effect.gen(function*() {
      const bulk = yield* BulkEmail
      return handlers.handleAll({
        sendBulk: Effect.fnUntraced(function*({ payload }) {
          const { accountId } = yield* Principal
          const batch = yield* bulk.send(accountId, payload)
          yield* created(`/v1/email/batches/${batch.batch_id}`)
          return { success: true as const, data: batch }
        }),
        batches: Effect.fnUntraced(function*({ query }) {
          const { accountId } = yield* Principal
          return yield* page(query, (window) => bulk.list(accountId, query, window))
        }),
        batch: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { data: yield* bulk.find(accountId, params.batch_id) }
        }),
        recipients: Effect.fnUntraced(function*({ params, query }) {
          const { accountId } = yield* Principal
          return yield* page(query, (window) => bulk.recipients({ accountId, batchId: params.batch_id }, query, window))
        }),
        cancel: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { success: true as const, data: yield* bulk.cancel(accountId, params.batch_id) }
        })
      })
    })
)

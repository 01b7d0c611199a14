import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { transaction } from "../../platform/database/transaction.ts"
import type { WebhookId } from "../../values/Ids.ts"
import { UnhealthyNotifier } from "../endpoint/UnhealthyNotifier.ts"
import { makeWebhooksRepo } from "../endpoint/WebhooksRepo.ts"
import { DeliveryBudget } from "./DeliveryBudget.ts"
import { makeQueueRepo } from "./QueueRepo.ts"

/**
 * Bounds how many first attempts wait for one webhook. Counted by its actor, every five seconds and only while any wait,
 * so the bound is exceeded by what they bring; a count with every event would cost more than the event. A webhook
 * that is at its bound gets what waits and nothing new, until half of that is done.
 */
export const makeBacklogGuard = Effect.fnUntraced(function*(id: WebhookId) {
  const sql = yield* SqlClient.SqlClient
  const { webhookPendingLimit } = yield* AppConfig
  const alarm = yield* UnhealthyNotifier
  const { inTurn } = yield* DeliveryBudget
  const queue = yield* makeQueueRepo
  const webhooks = yield* makeWebhooksRepo

  const close = Effect.gen(function*() {
    const closed = yield* webhooks.overflow(id)
    if (Option.isSome(closed)) yield* alarm.raise({ id, reason: "backlog_full" })
  })

  return Effect.fnUntraced(function*(standing: string) {
    const { count } = yield* inTurn(queue.backlog({ webhookId: id, most: webhookPendingLimit }))
    if (standing === "backlog_full") {
      if (count < webhookPendingLimit / 2) yield* webhooks.relieve(id)
    } else if (count >= webhookPendingLimit) {
      yield* transaction(close)
    }
  }, Effect.provideService(SqlClient.SqlClient, sql))
})

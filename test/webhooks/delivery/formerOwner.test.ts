import { assert } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { DeliveryId } from "../../../src/values/Ids.ts"
import { DeliveryOutcomes } from "../../../src/webhooks/delivery/DeliveryOutcomes.ts"
import { transition } from "../../../src/webhooks/delivery/DeliveryState.ts"
import { type ClaimedDelivery, QueueRepo } from "../../../src/webhooks/delivery/QueueRepo.ts"
import { formerOwnerChangesNothing } from "../../support/formerOwner.ts"
import { alarmedNode, storedWebhook } from "../../support/webhookHealth.ts"

interface Row {
  readonly webhookId: Effect.Success<typeof storedWebhook>["id"]
  readonly deliveryId: DeliveryId
}

const claim = ({ webhookId }: Row) =>
  Effect.flatMap(QueueRepo, ({ claim }) =>
    Effect.map(
      claim({ webhookId, firstAttempts: 9, retries: 9, inMemory: [] }),
      ([row]): ClaimedDelivery => ({ ...row ?? assert.fail("nothing was claimed"), body: new Uint8Array() })
    ))

/** What an owner remembers of a row that it got by local dispatch. The row itself does not show it. */
const dispatched = ({ deliveryId }: Row) =>
  Effect.succeed<ClaimedDelivery>({
    id: deliveryId,
    event_id: "evt_1",
    event: "email.sent",
    attempt_count: 0,
    claimed_at: null,
    is_test: false,
    all_gone: true,
    body: new Uint8Array()
  })

for (
  const [what, first] of [["a webhook delivery", claim], ["a locally dispatched webhook delivery", dispatched]] as const
) {
  formerOwnerChangesNothing(what, {
    layer: Layer.merge(QueueRepo.layer, DeliveryOutcomes.layer).pipe(Layer.provideMerge(alarmedNode({}))),
    make: Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { id: webhookId } = yield* storedWebhook
      const [row] = yield* sql`insert into webhook_queue (webhook_id, event_id, event, status)
      values (${webhookId}, 'evt_1', 'email.sent', 'pending') returning id`
      return { webhookId, deliveryId: DeliveryId.make(Number(row?.["id"])) }
    }),
    claim: first,
    takeOver: (row) =>
      Effect.flatMap(QueueRepo, ({ release }) => Effect.andThen(release(row.webhookId, []), claim(row))),
    writes: {
      release: (claimed, { webhookId }) =>
        Effect.flatMap(QueueRepo, ({ releaseClaims }) => releaseClaims(webhookId, [claimed])),
      ...Object.fromEntries([200, 500].map((status) => [
        `outcome ${status}`,
        (claimed: ClaimedDelivery, { deliveryId, webhookId }: Row) =>
          Effect.flatMap(DeliveryOutcomes, ({ record }) =>
            Effect.callback<void>((resume) =>
              record({
                webhookId,
                deliveryId,
                claimedAt: claimed.claimed_at,
                startedAt: 0,
                durationMs: 1,
                responseBody: null,
                retryAfter: null,
                transition: transition({ ...claimed, status: "pending" }, { _tag: "Answered", status }, "standard")
              }, (exit) => resume(Exit.asVoid(exit)))
            ))
      ]))
    },
    state: ({ deliveryId }) =>
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) =>
          sql`select to_jsonb(q) as row from webhook_queue q where id = ${deliveryId}
        union all select to_jsonb(d) from webhook_deliveries d where id = ${deliveryId}`
      )
  })
}

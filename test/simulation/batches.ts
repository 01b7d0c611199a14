import { Duration, Effect, Layer } from "effect"
import { Entity, ShardingConfig } from "effect/cluster"
import { ActiveBatches } from "../../src/channels/email/bulk/ActiveBatches.ts"
import { BatchActor } from "../../src/channels/email/bulk/BatchActor.ts"
import { BatchDispatch, leaseTimeout } from "../../src/channels/email/bulk/BatchDispatch.ts"
import { BatchEntity } from "../../src/channels/email/bulk/BatchEntity.ts"
import { BatchesRepo } from "../../src/channels/email/bulk/BatchesRepo.ts"
import { BatchMailer } from "../../src/channels/email/bulk/BatchMailer.ts"
import { BulkEmail } from "../../src/channels/email/bulk/BulkEmail.ts"
import { BulkThrottle } from "../../src/channels/email/recipients/BulkThrottle.ts"
import { mailOf, OpenRelay, outcomeOf, Outcomes, recipientRows, suppressed } from "./mail.ts"
import type { Receiver } from "./Receiver.ts"
import type { Workload } from "./runSeed.ts"
import { Settings } from "./services.ts"
import type { VirtualNode } from "./VirtualNode.ts"

const mailer = (node: VirtualNode, { receive }: Receiver) =>
  Layer.mock(BatchMailer)({
    open: () =>
      Effect.succeed(({ claim_number, id, is_suppressed }, lease) =>
        is_suppressed
          ? Effect.succeed({ subject: "s", outcome: suppressed })
          : Effect.map(
            receive({ node, item: mailOf(id), claim: claim_number, lease }),
            (verdict) => ({ subject: "s", outcome: outcomeOf(verdict) })
          )
      )
  })

/** A batch completes as in `BulkEmail`, without its event. */
const Completion = Layer.unwrap(
  Effect.map(BatchesRepo, ({ complete }) => Layer.mock(BulkEmail)({ complete: (id) => Effect.asVoid(complete(id)) }))
)

/** No batch waits for room. */
const room = { signal: Effect.void, signalUnsafe: () => undefined, wait: () => Effect.never }

const Services = Layer.mergeAll(
  Layer.mock(ActiveBatches)({
    hasRoom: Effect.succeed(true),
    run: (_, work) => work,
    mayReclaim: Effect.succeed(true)
  }),
  Layer.mock(BatchDispatch)({ room, withdraw: () => Effect.succeed([]) }),
  Layer.mock(BulkThrottle)({ acquire: () => Effect.void }),
  Completion,
  OpenRelay,
  Outcomes,
  Settings,
  ShardingConfig.layer()
).pipe(Layer.provideMerge(BatchesRepo.layer))

/** The actors of batches, while the node has their shard. The node's poll runs beside them. */
const owned = Effect.scoped(Effect.gen(function*() {
  const client = yield* Entity.makeTestClient(BatchEntity, BatchActor)
  const { findWaiting } = yield* BatchesRepo
  const poll = Effect.gen(function*() {
    const waiting = yield* findWaiting({ shards: [1], except: [], claimedFor: leaseTimeout, limit: 10 })
    for (const { id } of waiting) {
      const { Wake } = yield* client(id)
      yield* Effect.forkScoped(Wake())
    }
  })
  return yield* Effect.forever(Effect.andThen(Effect.ignoreCause(poll), Effect.sleep("1 second")))
}))

/** The recipients of batches, which the owner of the shard sends. */
export const batches: Workload = {
  name: "batches",
  tables: ["email_messages", "email_batches", "suppressions", "usage_daily"],
  rows: recipientRows(Duration.toMillis(leaseTimeout)),
  accept: ({ draw }) => [
    `with batch as (
        insert into email_batches (id, account_id, shard, from_address, subject, html, total)
        select 'email_batch_' || lpad(count(*)::text, 26, '0'), $1, 1, 'us@example.com', 's', 'h', $2 from email_batches
        returning id, account_id
      )
      insert into email_messages (account_id, batch_id, position, recipient)
      select account_id, id, n - 1, 'user' || n || '@example.com' from batch, generate_series(1, $2::integer) n`,
    [draw.between(1, 2), draw.between(1, 5)]
  ],
  start: (node, receiver) =>
    Effect.map(
      Layer.build(Layer.merge(Services, mailer(node, receiver))),
      (services) => ({ wake: Effect.void, owned: Effect.provide(owned, services) })
    )
}

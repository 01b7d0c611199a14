import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { WebhookId } from "../../../src/values/Ids.ts"
import { QueueRepo } from "../../../src/webhooks/delivery/QueueRepo.ts"
import { makeAccount } from "../../support/Service.ts"
import { TestDatabase, transaction } from "../../support/TestDatabase.ts"
import { inPatience } from "../../support/waiting.ts"

/** Inserts active webhooks and returns their ids. */
const webhooks = Effect.fnUntraced(function*(count: number) {
  const sql = yield* SqlClient.SqlClient
  const { accountId } = yield* makeAccount()
  const rows = yield* sql`insert into webhooks (account_id, url, events, secret, secret_prefix)
    select ${accountId}::bigint, 'https://example.com/' || n, '{*}', 's', 'whsec_'
    from generate_series(1, ${count}::integer) as n returning id::integer as id`
  return rows.map(({ id }) => Number(id))
})

const queue = Effect.fnUntraced(function*(id: number, status: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into webhook_queue (webhook_id, event_id, event, status, due_at, created_at)
    values (${id}, 'evt_1', 'email.sent', ${status}, now() - interval '2 minutes', now() - interval '2 minutes')`
})

layer(QueueRepo.layer.pipe(Layer.provideMerge(TestDatabase.layer)), { excludeTestServices: true })(
  "the sweeper",
  (it) => {
    it.effect("finds webhooks with waiting, retrying and orphaned deliveries, and reads no row of a webhook without any", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { findStalled } = yield* QueueRepo
        const [pending = 0, retrying = 0, taken = 0, ...idle] = yield* webhooks(300)
        yield* queue(pending, "pending")
        yield* queue(retrying, "retrying")
        yield* queue(taken, "taken")
        const scans = sql`select sum(idx_scan)::integer as scans from pg_stat_xact_user_tables
          where relname in ('webhook_queue', 'webhooks')`
        const [found, [counted]] = yield* transaction(Effect.all([findStalled(), scans]))
        const stalled = found.filter(({ id }) => !idle.includes(id)).map(({ id, reason }) => [id, reason])
        assert.sameDeepMembers(stalled, [[pending, "waiting"], [retrying, "waiting"], [taken, "orphaned"]])
        assert.lengthOf(found, 3)
        assert.isBelow(Number(counted?.["scans"]), 40)
      }))
  }
)

layer(QueueRepo.layer.pipe(Layer.provideMerge(TestDatabase.layer)), { excludeTestServices: true })(
  "two claims of a webhook",
  (it) => {
    it.effect("get each delivery once, and neither waits for the open transaction of the other", () =>
      Effect.gen(function*() {
        const { claim } = yield* QueueRepo
        const [id = 0] = yield* webhooks(1)
        yield* Effect.replicateEffect(queue(id, "pending"), 6, { discard: true })
        const some = claim({ webhookId: WebhookId.make(id), firstAttempts: 3, retries: 0, inMemory: [] })
        const isOpen = yield* Deferred.make<void>()
        const other = yield* Effect.forkChild(Effect.andThen(Deferred.await(isOpen), some))
        const all = yield* transaction(Effect.gen(function*() {
          const own = yield* some
          yield* Deferred.succeed(isOpen, undefined)
          return [...own, ...(yield* inPatience(Fiber.join(other), () => own))]
        }))
        assert.lengthOf(new Set(all.map((delivery) => delivery.id)), 6)
      }))
  }
)
